"""The graded tables that the analyzer may be improved with.

One entry per column: its name, the acceptable roles and the acceptable levels. Roles: i identifier, p person, h household, k key,
c confidential, w weight, o other. Levels: n nominal, o ordinal, q numeric, d date; a dash where the level does not matter.
"""

LEARNING = {
    "wooldridge/affairs": """
        id ip -; male k n; age k q; yrsmarr k,c q; kids k n; relig c,k o,q; educ k q,o; occup k n,o; ratemarr c o,q;
        naffairs c q; affair c n; vryhap c n; hapavg c n; avgmarr c n; unhap c n; vryrel c,k n; smerel c,k n;
        slghtrel c,k n; notrel c,k n""",
    "wooldridge/bwght2": """
        mage k q; meduc k q; monpre c q; npvis c q; fage k q; feduc k q; bwght c,k q; omaps c q,o; fmaps c q,o;
        cigs c q; drink c q; lbw c n; vlbw c n; male k n; mwhte k n; mblck k n; moth k n; fwhte k n; fblck k n;
        foth k n; lbwght c,k q; magesq k q; npvissq c q""",
    "wooldridge/recid": """
        black k n; alcohol c n; drugs c n; super c,o n; married k n; felon c n; workprg c,o n; property c n; person c n;
        priors c q; educ k q; rules c q; age k q; tserved c q; follow c,o q; durat c,o q; cens c,o n;
        ldurat c,o q""",
    "AER/PSID1976": """
        participation k,c n; hours k,c q; youngkids k q; oldkids k q; age k q; education k q; wage c q; repwage c q;
        hhours k,c q; hage k q; heducation k q; hwage c q; fincome c q; tax c q; meducation k q; feducation k q;
        unemp o,c,k q; city k n; experience k,c q; college k n; hcollege k n""",
    "AER/DoctorVisits": """
        visits c q; gender k n; age k q; income c q; illness c q; reduced c q; health c q; private c n; freepoor c n;
        freerepat c n; nchronic c n; lchronic c n""",
    "modeldata/attrition": """
        Age k q; Attrition c,k n; BusinessTravel k,c,o n,o; DailyRate c q; Department k n; DistanceFromHome k,o q;
        Education k o,n; EducationField k n; EnvironmentSatisfaction c o; Gender k n; HourlyRate c q;
        JobInvolvement c o; JobLevel k,c o,q; JobRole k n; JobSatisfaction c o; MaritalStatus k n; MonthlyIncome c q;
        MonthlyRate c q; NumCompaniesWorked k,c,o q; OverTime k,c,o n; PercentSalaryHike c q; PerformanceRating c n,o;
        RelationshipSatisfaction c o; StockOptionLevel c o,q; TotalWorkingYears k,c q; TrainingTimesLastYear c,o,k q;
        WorkLifeBalance c o,n; YearsAtCompany k,c q; YearsInCurrentRole k,c q; YearsSinceLastPromotion k,c q;
        YearsWithCurrManager k,c,o q""",
    "medicaldata/covid_testing": """
        subject_id ip -; fake_first_name i -; fake_last_name i -; gender k n; pan_day k,o,c q; test_id o,c n;
        clinic_name k,c n; result c n; demo_group k,o,c n; age k q; drive_thru_ind o,c,k n; ct_result c q;
        orderset o,c n; payor_group c n; patient_class c,k n; col_rec_tat o,c q; rec_ver_tat o,c q""",
    "causaldata/adult_services": """
        id ip -; session o,k,c q,n; age k q; age_cl k,c q; appearance_cl c,k,o q,o; bmi c,k q; schooling k q;
        asq_cl k,c q; provider_second c,o n; asian_cl k n; black_cl k n; hispanic_cl k n; othrace_cl k n; reg c,o n;
        hot c,o n; massage_cl c,o n; lnw c q; llength c,o q; unsafe c n; asian k n; black k n; hispanic k n; other k n;
        white k n; asq k,c q; cohab k n; married k n; divorced k n; separated k n; nevermarried k n;
        widowed k n""",
    "carData/MplsStops": """
        idNum ip -; date k d; problem c,o,k n; MDC o,c n; citationIssued c n; personSearch c n; vehicleSearch c n;
        preRace k n; race k n; gender k n; lat k q; long k q; policePrecinct k,o n; neighborhood k n""",
    "openintro/smoking": """
        gender k n; age k q; marital_status k n; highest_qualification k n,o; nationality k n; ethnicity k n;
        gross_income c o,n; region k n; smoke c n; amt_weekends c q; amt_weekdays c q; type c,o n""",
    "stevedata/ESS10NO": """
        cntry k,o n; idno ip -; region k n; inwds k,o d; inwde k,o d; dweight w q; pspwght w q; pweight w,o q;
        anweight w q; prob w,o q; stratum o,k n; psu o,i,h,k,p n; eu_vote c n; brnnorge k n; agea k q; imbgeco c q,o;
        imueclt c q,o; imwbcnt c q,o; female k n; eduyrs k q; uempla k,c n; polint c n; hinctnta c q,o;
        lrscale c q,o""",
    "mosaicData/Marriage": """
        bookpageID i,h,p -; appdate k d; ceremonydate k d; delay o,k,c q; officialTitle k,o n; person k,o n; dob k d;
        age k q; race k n; prevcount c,k q; prevconc c,k n; hs k q; college k q; dayOfBirth k q;
        sign k,o n""",
    "dragracer/rpdr_contestants": """
        season o,k n,o; contestant i,p -; age k q; dob k d; hometown k n""",
    "mosaicData/HELPrct": """
        age k q; anysubstatus c n; anysub c n; cesd c q; d1 c q; daysanysub c q; dayslink c q; drugrisk c q; e2b c q;
        female k n; sex k n; g1b c n; homeless c n; i1 c q; i2 c q; id ip -; indtot c q; linkstatus c n; link c n;
        mcs c q; pcs c q; pss_fr c q; racegrp k n; satreat c n; sexrisk c q; substance c n; treat c n; avg_drinks c q;
        max_drinks c q; hospitalizations c q""",
    "survival/colon": """
        id ip -; study o n,q,o; rx c n; sex k n; age k q; obstruct c n; perfor c n; adhere c n; nodes c q; status c n;
        differ c o,q,n; extent c o,q,n; surg c n; node4 c n; time c,k q; etype c,o n""",
    "bakeoff/bakers_raw": """
        series o,k q,n,o; baker_full i -; baker i -; age k q; occupation k n; hometown k n; baker_last i -;
        baker_first i -""",
    "openintro/seattlepets": """
        license_issue_date k d; license_number i,p -; animal_name o,k,i n; species o,k n; primary_breed o,k n;
        secondary_breed o,k n; zip_code k n""",
    "gt/pizzaplace": """
        id i,o,p,h -; date k,o d; time o,k d,n; name o n; size o o; type o n; price o,c q""",
    "wooldridge/k401ksubs": """
        e401k c n; inc c q; marr k n; male k n; age k q; fsize k q; nettfa c q; p401k c n; pira c n; incsq c q;
        agesq k q""",
    "wooldridge/wage1": """
        wage c q; educ k q; exper k,c q; tenure k,c q; nonwhite k n; female k n; married k n; numdep k q; smsa k n;
        northcen k n; south k n; west k n; construc k n; ndurman k n; trcommpu k n; trade k n; services k n;
        profserv k n; profocc k n; clerocc k n; servocc k n; lwage c q; expersq k,c q; tenursq k,c q""",
    "causaldata/thornton_hiv": """
        villnum k,h,o n; got c n; distvct k,o,c q; tinc o,c q; any o,c n; age k q; hiv2004 c n""",
}
