"""Values about offences, schooling results, opinions and payments."""

CONDUCT: dict[str, str] = {
    "crime": """
        assault, aggravated assault, simple assault, battery, burglary, robbery, armed robbery, theft, larceny,
        grand theft, petit theft, petty theft, shoplifting, fraud, forgery, embezzlement, arson, homicide, murder,
        manslaughter, rape, sexual assault, kidnapping, drug possession, drug trafficking, possession of cannabis,
        possession of cocaine, drug offense, dui, driving under the influence, drunk driving, vandalism, trespassing,
        trespass, disorderly conduct, domestic violence, stalking, extortion, bribery, money laundering, perjury,
        prostitution, weapons violation, weapon offense, traffic violation, violent, violent crime, property crime,
        felony, misdemeanor, infraction, convicted, acquitted, guilty, not guilty, probation, prison, jail, parole,
        arrest without incident, arrested, criminal record, arrest, conviction, suspicious, suspicious person, fight,
        motor vehicle theft, vehicle theft, driving while license revoked, warrant, citation, warning, taser,
        bodily force, chemical irritant, gun point display""",
    "attitude": """
        very happy, pretty happy, not too happy, happy, unhappy, very unhappy, fairly happy, strongly agree,
        strongly disagree, somewhat agree, somewhat disagree, agree, disagree, neither agree nor disagree,
        very satisfied, satisfied, dissatisfied, very dissatisfied, somewhat satisfied, somewhat dissatisfied,
        very important, somewhat important, not important, not at all important, not very important, a great deal,
        quite a lot, not very much, favor, favour, oppose, strongly favor, strongly oppose, approve, disapprove,
        strongly approve, strongly disapprove, support, strongly support, too little, too much, about right,
        very worried, somewhat worried, not worried, trust, do not trust, don t know, dont know, refused,
        refuse to answer, no opinion, definitely yes, probably yes, probably no, definitely no, very likely,
        somewhat likely, unlikely, very unlikely, extremely likely, likely, more than once a week, every week,
        once a week, once a month, once a year, several times a year, never or almost never,
        less than once a year""",
    "school discipline": """
        suspended, expelled, dropped out, dropout, truant, repeated""",
    "wealth and debt": """
        good credit, bad credit, default, no default, paid off, charged off, late payment, delayed previously,
        existing paid, all paid, critical other existing credit, no checking, delinquent, current loan, in grace period,
        bankrupt, mortgage loan""",
}  # fmt: skip
