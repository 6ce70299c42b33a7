"""Column names of confidential attributes (Truta et al., section 2) about money, work, law and beliefs.

Those about health are in :mod:`discreet.engine.recognition.health_names`.
"""

from __future__ import annotations

from discreet.engine.recognition.health_names import HEALTH
from discreet.engine.recognition.name_rules import Kind
from discreet.model.attribute import Role

_S = Role.CONFIDENTIAL

CONFIDENTIALS = (
    *HEALTH,
    Kind("income", _S, """
        income, incomes, salary, salary class, wage, wages, earnings, pay, payroll, bonus, revenue, pension, einkommen,
        gehalt, lohn, revenu, salaire, ingresos, ingreso, salario, sueldo, reddito, stipendio, inkomen, salaris, tulot,
        palkka, inkomst, inntekt, compensation, household income, family income, agi, agi bin, hourly wage, poverty,
        ptotval, inc, faminc, fam inc, fincome, finc, famincr, hinc, hhinc, hh inc, hhninc, hincome, hhi, rincome,
        rincom, realinc, realrinc, earn, earns, annearn, annual earnings, hrearn, hrwage, hr wage, huswage, husearns,
        repwage, swage, prewage, appinc, atotinc, totinc, othinc, nwifeinc, labinc, incwage, inctot, hourly rate,
        daily rate, monthly rate, monthly income, annual income, gross income, net income, personal income,
        income class, income group, income level, low income, lowinc, sal, take home pay, remuneration, incomeperc,
        income decile, hinctnta, hincfel, wagest, hourly pay, base pay, stock option, salary hike, tips, realearn,
        real earnings, allowance, financial situation, persfinance, ses, socioeconomic status, lnwg, lnw,
        wg,
        verdienst, entgelt, besoldung, verguetung, rente, loon, lonn, arslon, manadslon, timlon, indkomst, bezuege,
        renta anual, renta mensual, renta neta, renta familiar, nomina, retribuzione, retribucion, rendimento,
        rendimentos, ordenado, vencimento""",
        0.005, 0.9),
    Kind("wealth and debt", _S, """
        wealth, assets, asset, net worth, networth, nettfa, savings, saving, sav, balance, debt, debts, loan, loans,
        loanamt, loan amount, mortgage, mortg, capital gain, capital gains, capital loss, capital losses, dividend,
        dividends, interest income, investment, investments, stocks, stock, stckin, bonds, property value,
        property owned, credit, credit score, credit limit, credit history, credit amount, credit cards, credit rating,
        bankruptcy, bankrupt, vermoegen, schulden, deuda, patrimonio, dette, fortune, ira, pira, 401k, 401 k,
        pension plan, retirement account, liabilities, liability, liquid, liquidity, home value, homeval, house value,
        wealth index, delinquent, delinquency, arrears, default payment, payment status, pay status, repayment,
        housing loan, personal loan, overdraft, cards, majorcards, landholding, land owned, land size, acres,
        checking account, savings account, installment, collateral, financial assets, equity,
        bank balance""", 0.005, 0.8),
    Kind("bill", _S, """
        billing, bill, charge, charges, cost, costs, price, amount, payment, payments, paid, expense, expenses,
        expenditure, expenditures, expend, totexp, totexpend, spending, spend, spent, invoice, invoice amount, fee,
        rechnung, betrag, kosten, montant, importe, costo, purchase, purchases, meddol, fare, consumption, outlay,
        donation, gift,
        ausgaben""", 0.005, 0.5),
    Kind("insurance", _S, """
        insurance, insurer, payer, payer code, payor, payor group, coverage, versicherung, assurance, seguro, premium,
        insured, uninsured, ins, health ins, hins, hlthins, health insurance, private insurance, privins, hmo,
        insurance type, insurance plan""",
        0.02, 0.4, coded=True),
    Kind("benefit", _S, """
        benefit, benefits, ben, welfare, social assistance, snap, food stamps, food stamp, tanf, ssi, wic, medicaid,
        mcaid, medicare, mcare, unemployment, unemployed, unemp, unempl, unem, unemply, ue, uempla, wks ue,
        weeks unemployed, unemployment reason, lunch, free lunch, freelunch, freelunk, free meal, reduced lunch,
        lunch status, housing assistance, subsidy, sozialhilfe, hartz, allocation, subsidio, sussidio, tukien, bafoeg,
        veterans benefits, afdc, public assistance, public asstce, pubasst, welfare recipient, transfers,
        unemployment insurance, unemployment benefit, job loss, joblost, laid off, social security income,
        calworks""", 0.01, 0.6),
    Kind("tax", _S, """
        tax, taxes, tax filer status, filer, filing status, deduction, deductions, steuer, steuern, impot, impuesto, tassa, vero,
        mtr, marginal tax rate""", 0.005, 0.7),
    Kind("crime", _S, """
        crime, crimes, criminal, criminal record, conviction, convictions, convicted, conv, arrest, arrests, arrested,
        narr, narrests, offence, offense, offences, offenses, offender, felony, felonies, felon, misdemeanor, misd,
        prison, prisoner, jail, probation, parole, paroled, paro, incarcerated, incarceration, sentence, sentenced,
        avgsen, tserved, time served, violent, violence, victim, victimization, abuse, police, court, straftat,
        vorstrafe, delito, reato, rikos, lawsuit, gang, priors, priors count, prior arrests, prior convictions, prio,
        recidivism, recidivist, two year recid, is recid, is violent recid, rearrest, charge degree, charge desc,
        charge description, charge offense, c charge, r charge, decile score, risk of recidivism, juv, juvenile,
        juv fel count, juv misd count, custody, days in jail, inmate, detained, citation, citation issued, ticket,
        person search, searched, vehicle search, frisked, weapon, weapons, gun, guns, own gun, owngun, firearm,
        homicide, murder, murders, rape, robbery, assault, burglary, theft, larceny, fraud, drunk driving, dui,
        use of force, force type, traffic stop, contraband, guilty, verdict, bail, cheated, domestic violence,
        harassment, bullied, bullying, delinquent behavior, fight, fights, pcnv""", 0.005, 1.0),
    Kind("school discipline", _S, """
        suspended, suspension, suspensions, expelled, expulsion, truancy, truant, dropout, retained, detention,
        disciplinary, absences, absent, attendance, skipped, skip class, school absence, repeated grade,
        grade repetition, repeatgr, late to school""",
        0.005, 0.7),
    Kind("performance", _S, """
        gpa, colgpa, hsgpa, trmgpa, cumgpa, exam, exam score, exam marks, test score, test scores, marks, mark, score,
        scores, iq, kww, sat, lsat, gre, gmat, act score, afqt, asvab, ppvt, evaluation, eval, appraisal, performance,
        noten, gifted, rating, math, maths, mathematics, math score, mathscr, mathk, reading, read, readk,
        reading score, writing score, science score, vocab, vocabulary, verbal, arithmetic, spelling, abil, ability,
        aptitude, cognition, cognitive, achievement, class rank, hsrank, hsperc, academic, points earned,
        performance rating, performance review, final grade, promotion, promoted, dismissal, dismissed, fired,
        attrition, turnover intention, note moyenne, calificacion""", 0.01, 0.4),
    Kind("hardship", _S, """
        homeless, homelessness, foster, foster care, orphan, refugee, asylum, migrant, undocumented, eviction, evicted,
        food insecurity, food security, hunger, hungry, shelter, deprivation, deprived, econ hard, economic hardship,
        financial hardship, financial stress""", 0.01, 0.8, coded=True),
    Kind("religion", _S, """
        religion, religions, faith, denomination, church, confession, konfession, religione, uskonto, glaube, creed,
        catholic, cathol, protestant, muslim, islam, islamic, christian, jewish, judaism, hindu, buddhist, baptist,
        mormon, evangelical, orthodox, atheist, born again, bornagain, parcath, denomina, mosque, spiritual, kirche,
        eglise, iglesia,
        religionszugehoerigkeit, konfessionszugehoerigkeit""", 0.1, 0.8, coded=True),
    Kind("religion", _S, """
        religious, religiousness, religiosity, relig, religi, church attendance, churchatd, attend church,
        religious attendance, pray, prayer, prayerfreq, religimp, god, godimportant, relactiv,
        worship""", 0.05, 0.7),
    Kind("politics", _S, """
        political, politics, party, vote, voted, voting, votes, voter, turnout, party affiliation, partei, parti,
        partido, puolue, political views, partyid, party id, pid7, opinion, opinions, democrat, republican, liberal,
        conservative, labour party, vote intention, vote choice, candidate preference, registered voter,
        political party, trump, votetrump, obama, clinton, bush, election vote,
        parteizugehoerigkeit, parteimitglied, parteimitgliedschaft""",
        0.05, 0.9, coded=True),
    Kind("politics", _S, """
        ideology, ideo, ideol, polviews, political interest, polint, left right, lrscale, political knowledge, therm,
        feeling thermometer""",
        0.02, 0.8),
    Kind("attitude", _S, """
        attitude, attitudes, belief, beliefs, happy, happiness, vhappy, unhappy, unhap, hapavg, vryhap, satisfied,
        dissatisfied, satis, satisfaction, satisf, life satisfaction, job satisfaction, wellbeing, well being, trust,
        trst, distrust, agree, disagree, approve, approval, preference, prefer, importance, important, worry, worried,
        afraid, fear, angry, anger, feel, feels, feeling, feelings, mood, emotion, emotional, lonely, loneliness,
        self esteem, personality, extraversion, extroversion, neuroticism, agreeableness, conscientiousness, openness,
        risk averse, risk aversion, risk tolerance, risk preference, patience, altruism, motivation, tolerance,
        prejudice, racism, sexism, national pride, nationalpride, immigr, immigrants, abortion attitude, statusquo,
        confidence in, expectation, expectations, aspiration, values survey, support for, willing, willingness,
        willingness to pay, knowledge, concern, quality of life, qol, work life balance, job involvement, engagement,
        morale, likert, rate marriage, ratemarr, leisure, hobby, hobbies, tv hours, tvhours, screen time,
        social media use, friends, trusting""", 0.01, 0.5),
    Kind("union", _S, """
        union, union member, unionmem, trade union, union membership, gewerkschaft, syndicat, sindicato,
        sindacato,
        gewerkschaftsmitglied, gewerkschaftsmitgliedschaft, gewerkschaftszugehoerigkeit, afiliacion sindical,
        affiliation syndicale, syndique, iscrizione sindacale""",
        0.02, 0.7, coded=True),
    Kind("orientation", _S, """
        sexual orientation, orientation, lgbt, lgbtq, gay, lesbian, bisexual, sexuality, gender identity, transgender,
        sex life, sexual, sexual partners, unprotected sex, protected sex, safe sex, had sex, anal sex, oral sex,
        num partners, npartner, npartners, orientierung, homo, homosexual, homosexuality, hetero, heterosexual, affair,
        affairs, naffairs, nbaffairs, extramarital, infidelity, sexrisk, sex risk, sexual behavior, condom, intercourse,
        virgin, sex worker, prostitution, same sex partner""", 0.01, 1.0, coded=False),
)  # fmt: skip
