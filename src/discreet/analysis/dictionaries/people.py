"""Values that describe people: sex, origin, family, schooling, work, beliefs. Commas separate values, written in small letters."""

PEOPLE: dict[str, str] = {
    "sex": """
        male, female, males, females, man, woman, men, women, boy, girl, m, f, masculine, feminine, maennlich, weiblich, mannlich, masculin,
        feminin, homme, femme, hombre, mujer, masculino, femenino, feminino, uomo, donna, maschio, femmina, man kvinna, kvinna, mies,
        nainen, mand, kvinde, non binary, nonbinary, nonbinary genderqueer, transgender, intersex, diverse, divers, other gender, trans""",
    "ethnicity": """
        black, white, asian, hispanic, latino, latina, latinx, caucasian, african american, black or african american, afam, cauc,
        native american, american indian, american indian or alaska native, alaska native, pacific islander, native hawaiian,
        native hawaiian or other pacific islander, asian pac islander, asian or pacific islander, amer indian eskimo, amer indian
        aleut or eskimo, non hispanic white, non hispanic black, nh white, nh black, white non hispanic, black non hispanic, mexican
        american, mexican, mex, puerto rican, other hispanic, other race, other mixed race, mixed race, multiracial, biracial, two or more
        races, mixed, east african, south asian, east asian, white british, white irish, black caribbean, black african, maori, pakeha,
        aboriginal, indigenous, arab, roma, creole, mestizo, mulatto, coloured, han, not hispanic, non hispanic, nonhispanic, nonwhite,
        non white, other race or ethnicity, middle eastern, east indian, europid""",
    "marital status": """
        married, single, divorced, widowed, widow, widower, separated, never married, unmarried, cohabiting, cohabitating, partnered,
        domestic partner, domestic partnership, civil union, engaged, in a relationship, living together, living with partner, living
        with a partner, common law, married civ spouse, married af spouse, married spouse absent, married spouse present, spouse absent,
        legally separated, ledig, verheiratet, geschieden, verwitwet, celibataire, marie, mariee, divorce, divorcee, veuf, veuve, soltero,
        soltera, casado, casada, divorciado, divorciada, viudo, viuda, divorced separated, separated divorced, not married, remarried,
        single never married, married living together""",
    "relation to head": """
        head, spouse, child, husband, wife, own child, not in family, other relative, householder, head of household, parent, grandchild,
        son, daughter, brother, sister, sibling, grandparent, son or daughter, nonrelative, non relative, lodger, servant, housemate,
        roommate, foster child, stepchild, reference person, in law, son in law, daughter in law, niece, nephew, father, mother""",
    "education": """
        bachelors, bachelor, bachelor s degree, bachelors degree, ba, bsc, bs, masters, master, master s degree, masters degree, msc, phd,
        doctorate, doctoral, doctoral degree, some college, some high school, high school, high school graduate, hs grad, hs graduate,
        less than high school, lt high school, highschool, ged, college, college graduate, college degree, graduate school,
        graduate degree, graduate, postgraduate, associate degree, associates, associate, assoc voc, assoc acdm, vocational, trade school,
        professional degree, prof school, primary, primary school, secondary, secondary school, elementary, elementary school, middle
        school, junior high, no schooling, no formal education, no qualification, university, university degree, tertiary, preschool,
        illiterate, below college, some secondary, completed secondary, abitur, hauptschule, realschule, gcse, a levels, gcse o level,
        gcse cse, higher sub degree, other sub degree, onc btec, 8th grade, 9th, 10th, 11th, 12th, 7th 8th, 5th 6th, 1st 4th,
        advanced degree, incomplete higher, higher education, secondary special, undergraduate, some university, bachillerato, licenciatura,
        baccalaureat, diploma, college junior college, lt hs, hs some college, hs trade, bachelors or higher""",
    "employment": """
        employed, unemployed, retired, student, homemaker, housewife, keeping house, working fulltime, working full time, working
        parttime, working part time, full time, part time, fulltime, parttime, full time employed, part time employed, self employed,
        selfemployed, disabled, unable to work, not working, not in labor force, not in labour force, inactive, temp not working,
        temporarily laid off, unempl laid off, laid off, in school, school, looking for work, seeking work, permanently disabled, pensioner,
        working, active, freelance, freelancer, contractor, seasonal, military service, employed full time, employed part time,
        not employed, out of work, casual, apprentice, on leave, erwerbstatig, arbeitslos, rentner, schuler""",
    "employer": """
        private, self emp not inc, self emp inc, federal gov, local gov, state gov, without pay, never worked, government, govt,
        private sector, public sector, non profit, nonprofit, self employed incorporated, self employed not incorporated, family worker,
        human resources, research development, research and development, sales, marketing, finance, accounting, engineering, legal,
        operations, it department, production, logistics, procurement, customer service, administration""",
    "language": """
        english, spanish, french, german, chinese, mandarin, cantonese, hindi, arabic, portuguese, russian, japanese, korean, italian,
        vietnamese, tagalog, polish, turkish, dutch, greek, hebrew, urdu, bengali, punjabi, tamil, telugu, marathi, persian, farsi, swahili,
        swedish, norwegian, danish, finnish, hungarian, czech, slovak, romanian, bulgarian, ukrainian, serbian, croatian, thai, malay,
        indonesian, catalan, basque, haitian creole, somali, amharic, yoruba, hausa, igbo, zulu, afrikaans""",
    "religion": """
        catholic, roman catholic, protestant, christian, muslim, islam, jewish, jew, hindu, hinduism, buddhist, buddhism, sikh, atheist,
        agnostic, no religion, orthodox, mormon, evangelical, baptist, methodist, lutheran, presbyterian, anglican, episcopalian,
        pentecostal, jehovah s witness, jehovahs witness, unitarian, quaker, sunni, shia, shiite, christianity, judaism, taoist, shinto,
        bahai, zoroastrian, jain, nondenominational, born again, greek orthodox, russian orthodox, evangelisch, katholisch, konfessionslos,
        spiritual, moslem, church of england, latter day saints, none no religion""",
    "politics": """
        democrat, democratic, republican, independent, liberal, conservative, labour, liberal democrat, labor, green, greens, libertarian,
        socialist, communist, moderate, strong democrat, weak democrat, strong republican, weak republican, not str democrat, not str
        republican, ind near dem, ind near rep, not strong democrat, not strong republican, lean democrat, lean republican,
        independent near democrat, independent near republican, far left, left, center left, centre left, center right, centre right, right,
        far right, extremely liberal, slightly liberal, extremely conservative, slightly conservative, very liberal, very conservative,
        social democrat, social democrats, christian democrat, cdu, spd, fdp, afd, tory, snp, ukip, bloc quebecois, ndp, trump, clinton, biden,
        obama, bush, romney, mccain, perot, gore, kerry, nixon, reagan, did not vote, didnt vote, remain, leave, join eu, remain outside,
        blank ballot, not eligible, other party, third party, would not vote""",
    "orientation": """
        heterosexual, homosexual, bisexual, gay, lesbian, straight, asexual, queer, pansexual, lgbt, lgbtq, gay lesbian, straight heterosexual,
        gay or lesbian, hets, men who have sex with men, msm""",
    "looks": """
        blond, blonde, brunette, brown hair, black hair, red hair, blue eyes, brown eyes, green eyes, hazel, auburn, left handed, right
        handed, lefthanded, righthanded, ambidextrous""",
    "housing": """
        own, rent, owner, renter, owned, rented, owner occupied, renter occupied, own home, mortgage, owned with mortgage, owned free and
        clear, living with parents, with parents, parents, house apartment, rented apartment, municipal apartment, co op apartment, office
        apartment, tenant, council housing, social housing, free of rent, for free, own house, detached, semi detached, terraced,
        flat, apartment, condominium, mobile home, trailer, dormitory""",
    "zodiac sign": """
        aries, taurus, gemini, cancer, leo, virgo, libra, scorpio, sagittarius, saggitarius, capricorn, aquarius, pisces""",
    "wedding role": """bride, groom""",
}  # fmt: skip
