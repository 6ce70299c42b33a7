"""The graded tables that only the final figure is taken from; see learning_tables.py for the notation."""

FINAL = {
    "wooldridge/happiness": """
        year k,o q,n,o,d; workstat k,c n; prestige k,c,o q; divorce k,c n; widowed k,c n; educ k q; reg16 k n;
        babies k q; preteen k q; teens k q; income c o,n; region k n; attend c,k o,n; happy c o,n; owngun c n;
        tvhours c,o q; vhappy c n; mothfath16 k,c n; black k n; gwbush04 c n; female k n; blackfemale k n; gwbush00 c n;
        occattend c,k n; regattend c,k n; y94 k,o n; y96 k,o n; y98 k,o n; y00 k,o n; y02 k,o n; y04 k,o n; y06 k,o n;
        unem10 c,k n""",
    "wooldridge/fertil2": """
        mnthborn k q,n,o; yearborn k q; age k q; electric k,c,o n; radio k,c,o n; tv k,c,o n; bicycle k,c,o n; educ k q;
        ceb k,c q; agefbrth k,c q; children k q; knowmeth c n; usemeth c n; monthfm k,c q,n,o; yearfm k,c q;
        agefm k,c q; idlnchld c,o q; heduc k q; agesq k q; urban k n; urb_educ k q; spirit c,k n; protest c,k n;
        catholic c,k n; frsthalf k,o n; educ0 k n; evermarr k n""",
    "wooldridge/jtrain2": """
        train c,o,k n; age k q; educ k q; black k n; hisp k n; married k n; nodegree k n; mosinex c,o q; re74 c q;
        re75 c q; re78 c q; unem74 c,k n; unem75 c,k n; unem78 c,k n; lre74 c q; lre75 c q; lre78 c q; agesq k q;
        mostrn c,o q""",
    "AER/NMES1988": """
        visits c q; nvisits c q; ovisits c q; novisits c q; emergency c q; hospital c q; health c o,n; chronic c q;
        adl c n; region k n; age k q; afam k n; gender k n; married k n; school k q; income c q; employed k,c n;
        insurance c n; medicaid c n""",
    "AER/HealthInsurance": """
        health c n; age k q; limit c n; gender k n; insurance c n; married k n; selfemp k n; family k q; region k n;
        ethnicity k n; education k o,n""",
    "modeldata/wa_churn": """
        churn c,o n; female k n; senior_citizen k n; partner k n; dependents k n; tenure c,k,o q; phone_service o,c n;
        multiple_lines o,c n; internet_service o,c n; online_security o,c n; online_backup o,c n;
        device_protection o,c n; tech_support o,c n; streaming_tv o,c n; streaming_movies o,c n; contract o,c n,o;
        paperless_billing o,c n; payment_method c,o n; monthly_charges c q; total_charges c q""",
    "modeldata/credit_data": """
        Status c n; Seniority k,c q; Home k,c n; Time c,o q; Age k q; Marital k n; Records c n; Job k n; Expenses c q;
        Income c q; Assets c q; Debt c q; Amount c q; Price c q""",
    "openintro/oscars": """
        oscar_no o,k q,n; oscar_yr o,k q,d,n; award k,o n; name i,p -; movie k,o,i n; age k q; birth_pl k n;
        birth_date k d; birth_mo k q,n,o; birth_d k q,n,o; birth_y k q""",
    "openintro/yrbss": """
        age k q; gender k n; grade k o,n; hispanic k n; race k n; height k q; weight k,c q; helmet_12m c,o o,n;
        text_while_driving_30d c o,n; physically_active_7d c,o q; hours_tv_per_school_day c,o o,n;
        strength_training_7d c,o q; school_night_hours_sleep c,o o,n""",
    "stevedata/gss_abortion": """
        id ip,o,h -; year k,o q,n,d; age k q; race k n; sex k n; hispaniccat k n; educ k q; partyid c n,o;
        relactiv c,k n,o,q; abany c n; abdefect c n; abnomore c n; abhlth c n; abpoor c n; abrape c n; absingle c n;
        pid c q,o,n; hispanic k n""",
    "survival/pbc": """
        id ip -; time c,k q; status c n; trt c n; age k q; sex k n; ascites c n; hepato c n; spiders c n; edema c n,o,q;
        bili c q; chol c q; albumin c q; copper c q; alk.phos c q; ast c q; trig c q; platelet c q; protime c q;
        stage c o,q,n""",
    "medicaldata/cytomegalovirus": """
        ID ip -; age k q; sex k n; race k n; diagnosis c n; diagnosis.type c n; time.to.transplant c q;
        prior.radiation c n; prior.chemo c q; prior.transplant c n; recipient.cmv c n; donor.cmv c n; donor.sex k,c n;
        TNC.dose c q; CD34.dose c q; CD3.dose c q; CD8.dose c q; TBI.dose c q,n; C1/C2 c n; aKIRs c q; cmv c n;
        time.to.cmv c q; agvhd c n; time.to.agvhd c q; cgvhd c n; time.to.cgvhd c q""",
    "sampleSelection/nlswork": """
        idcode ip -; year k,o q,n,d; birth_yr k q; age k q; race k n; msp k n; nev_mar k n; grade k q; collgrad k n;
        not_smsa k n; c_city k n; south k n; ind_code k n; occ_code k n; union c,k n; wks_ue c q; ttl_exp k,c q;
        tenure k,c q; hours k,c q; wks_work k,c q; ln_wage c q""",
    "mosaicData/Gestation": """
        id ip -; plurality o,c n; outcome o,c n; date k d; gestation c q; sex k,o n; wt c,k q; parity c,k q; race k n;
        age k q; ed k n,o; ht k q; wt.1 c,k q; drace k n; dage k q; ded k n,o; dht k q; dwt c,k q; marital k n;
        inc c o,n; smoke c n; time c n,o; number c n,o""",
    "openintro/mn_police_use_of_force": """
        response_datetime k d; problem c,o n; is_911_call o,c n; primary_offense c n; subject_injury c n;
        force_type c,o n; force_type_action c,o n; race k n; sex k n; age k q; type_resistance c,o n; precinct k,o n;
        neighborhood k n""",
    "causaldata/social_insure": """
        address k,i n; village k n; takeup_survey c,o n; age k q; agpop k q; ricearea_2010 c,k q; disaster_prob c,o q;
        male k n; default o,c n; intensive o,c n; risk_averse c q,o; literacy k n;
        pre_takeup_rate o,c q""",
    "ISLR/Credit": """
        ID ip -; Income c q; Limit c q; Rating c q; Cards c q; Age k q; Education k q; Gender k n; Student k n;
        Married k n; Ethnicity k n; Balance c q""",
    "dplyr/storms": """
        name o n; year o,k q,d,n; month o,k q,n,o; day o,k q,n,o; hour o,k q,n,o; lat o,k q; long o,k q; status o n;
        category o o,q,n; wind o q; pressure o q; tropicalstorm_force_diameter o q;
        hurricane_force_diameter o q""",
    "openintro/nba_players_19": """
        first_name i -; last_name i -; team k,o n; team_abbr k,o n; position k,o n; number k,o,i q,n;
        height k q""",
    "carData/KosteckiDillon": """
        id ip -; time o,c,k q; dos o,c,k q; hatype c n; age k q; airq o,c q; medication c n,o; headache c n;
        sex k n""",
    "ISLR/Auto": """
        mpg o q; cylinders o q,o,n; displacement o q; horsepower o q; weight o q; acceleration o q; year o,k q,n,d,o;
        origin o,k n; name o n""",
}
