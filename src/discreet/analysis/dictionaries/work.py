"""Values that are occupations or industries."""

WORK: dict[str, str] = {
    "occupation": """
        accountant, actor, actress, administrator, adm clerical, administrative assistant, advertising, analyst, architect, artist, armed
        forces, assistant, astronaut, athlete, attorney, author, baker, banker, barber, bartender, biologist, blue collar, bricklayer,
        builder, bus driver, business owner, businessman, businesswoman, butcher, care worker, carpenter, cashier, chef, chemist, civil
        servant, cleaner, clergy, clerical, clerical worker, clerk, coach, computer programmer, consultant, cook, construction worker,
        counselor, courier, craft, craft repair, craftsman, customer service, dancer, dentist, designer, director, doctor, driver,
        economist, editor, electrician, engineer, entertainment, entrepreneur, executive, exec managerial, farmer, farming fishing,
        farm worker, firefighter, fisherman, flight attendant, foreman, gardener, graphic designer, hairdresser, handlers cleaners,
        healthcare, healthcare worker, human resources, housekeeper, houseperson, interpreter, janitor, journalist, judge, laborer,
        labourer, laboratory technician, lawyer, lecturer, librarian, machine op inspct, machinist, maid, management, manager, managerial,
        manual worker, manufacturing director, manufacturing, marketing, mechanic, metal worker, midwife, military, miner, minister, model,
        musician, none, nurse, nursing assistant, office worker, officer, operative, operator, optician, other service, painter, paralegal,
        pastor, pharmacist, photographer, physician, physicist, pilot, plumber, police officer, policeman, politician, postman, priest,
        priv house serv, principal, professor, prof specialty, professional, programmer, project manager, protective serv, psychologist,
        psychiatrist, publisher, receptionist, real estate agent, realtor, research analyst, research director, research scientist,
        researcher, retail worker, sailor, salaried, sales, sales executive, sales representative, salesman, salesperson, saleswoman,
        scientist, secretary, security guard, service worker, shop assistant, shopkeeper, singer, skilled worker, social worker, software
        developer, software engineer, soldier, statistician, student, supervisor, surgeon, surveyor, tailor, taxi driver, teacher, teaching
        assistant, tech support, technician, technical, therapist, translator, transport moving, truck driver, tutor, undertaker,
        unskilled worker, unskilled, skilled, semi skilled, veterinarian, waiter, waitress, warehouse worker, web developer, welder,
        white collar, writer, worker, employee, high school teacher, data scientist, data analyst, healthcare representative, admin,
        blue collar worker, services, higher managerial, routine, semi routine, intermediate, petty bourgeoisie""",
    "industry": """
        agriculture, agriculture forestry and fishing, forestry, fishing, mining, mining and quarrying, manufacturing, manufact, construction,
        construct, utilities, trade, wholesale, wholesale trade, retail, retail trade, transportation, transport, transportation and
        storage, accommodation, hospitality, accommodation and food, information, finance, finance and insurance, financial, insurance,
        real estate, real estate activities, professional services, business services, public administration, education sector, health
        care, healthcare and social assistance, social services, entertainment and recreation, arts and recreation, personal services, other
        services, durable goods, nondurable goods, telecommunications, technology, it services, energy, automotive, banking, consulting,
        oil and gas, pharmaceuticals, aerospace, textiles, media, tourism""",
}  # fmt: skip
