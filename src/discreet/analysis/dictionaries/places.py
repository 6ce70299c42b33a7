"""Values that are places: countries with their people's names, and parts of countries."""

PLACES: dict[str, str] = {
    "country": """
        afghanistan, albania, algeria, andorra, angola, argentina, armenia, australia, austria, azerbaijan, bahamas, bahrain, bangladesh,
        barbados, belarus, belgium, belize, benin, bhutan, bolivia, bosnia and herzegovina, bosnia, botswana, brazil, brunei, bulgaria,
        burkina faso, burundi, cambodia, cameroon, canada, cape verde, chad, chile, china, colombia, comoros, congo, costa rica, croatia,
        cuba, cyprus, czech republic, czechia, denmark, djibouti, dominica, dominican republic, ecuador, egypt, el salvador, england, eritrea,
        estonia, eswatini, ethiopia, fiji, finland, france, gabon, gambia, germany, ghana, greece, grenada, guatemala, guinea, guyana, haiti,
        honduras, hong kong, hungary, iceland, india, indonesia, iran, iraq, ireland, israel, italy, ivory coast, cote d ivoire, jamaica,
        japan, jordan, kazakhstan, kenya, kosovo, kuwait, kyrgyzstan, laos, latvia, lebanon, lesotho, liberia, libya, liechtenstein,
        lithuania, luxembourg, madagascar, malawi, malaysia, maldives, mali, malta, mauritania, mauritius, mexico, moldova, monaco, mongolia,
        montenegro, morocco, mozambique, myanmar, burma, namibia, nepal, netherlands, the netherlands, holland, new zealand, nicaragua,
        niger, nigeria, north korea, north macedonia, macedonia, northern ireland, norway, oman, pakistan, palestine, panama, papua new
        guinea, paraguay, peru, philippines, poland, portugal, puerto rico, qatar, romania, russia, russian federation, rwanda, samoa,
        saudi arabia, scotland, senegal, serbia, seychelles, sierra leone, singapore, slovakia, slovenia, somalia, south africa, south
        korea, korea, republic of korea, south sudan, spain, sri lanka, sudan, suriname, sweden, switzerland, syria, taiwan, tajikistan,
        tanzania, thailand, togo, tonga, trinidad and tobago, trinadad tobago, tunisia, turkey, turkiye, turkmenistan, uganda, ukraine,
        united arab emirates, uae, united kingdom, uk, great britain, united states, united states of america, usa, us, u s, uruguay,
        uzbekistan, vanuatu, venezuela, vietnam, viet nam, wales, yemen, yugoslavia, zambia, zimbabwe, soviet union, ussr, west germany,
        deutschland, frankreich, italien, spanien, polen, osterreich, schweiz, turkei, allemagne, espagne, italie, suisse, belgique, espana,
        alemania, francia, italia, brasil, outlying us guam usvi etc,
        afghan, albanian, algerian, american, argentine, australian, austrian, bangladeshi, belgian, brazilian, british, bulgarian, canadian,
        chilean, colombian, croatian, cuban, cypriot, czech, dane, dominican, egyptian, emirati, english, ethiopian, filipino, ghanaian,
        haitian, indian, indonesian, iranian, iraqi, irish, israeli, jamaican, jordanian, kenyan, kuwaiti, lebanese, libyan, malaysian,
        mexican national, moroccan, nepalese, new zealander, nigerian, pakistani, palestinian, peruvian, portuguese, romanian, russian,
        saudi, scottish, senegalese, serbian, singaporean, slovak, slovenian, somali, south african, sri lankan, sudanese, swiss, syrian,
        taiwanese, thai, tunisian, turk, ugandan, ukrainian, venezuelan, vietnamese, welsh, yemeni, zimbabwean""",
    "region": """
        alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, district of columbia, washington dc, florida,
        georgia, hawaii, idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota,
        mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, new york, north carolina, north dakota,
        ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, texas, utah, vermont, virginia,
        washington, west virginia, wisconsin, wyoming, alberta, british columbia, manitoba, new brunswick, newfoundland, nova scotia,
        ontario, prince edward island, quebec, saskatchewan, new south wales, victoria, queensland, south australia, western australia,
        tasmania, northern territory, bayern, baden wurttemberg, nordrhein westfalen, hessen, niedersachsen, sachsen, thuringen, brandenburg,
        rheinland pfalz, saarland, schleswig holstein, mecklenburg vorpommern, sachsen anhalt, berlin, hamburg, bremen, bavaria, saxony,
        wien, tirol, salzburg, karnten, steiermark, ile de france, bretagne, normandie, occitanie, provence, catalunya, cataluna, andalucia,
        madrid, galicia, lombardia, lazio, toscana, sicilia, veneto, piemonte, london, paris, rome, moscow, chicago, los angeles, houston,
        boston, seattle, philadelphia, san francisco, dallas, atlanta, miami, detroit, toronto, montreal, vancouver, sydney, melbourne,
        northeast, north east, northwest, north west, southeast, south east, southwest, south west, midwest, mid west, west coast, east
        coast, new england, middle atlantic, mid atlantic, south atlantic, e nor central, w nor central, e sou central, w sou central,
        east north central, west north central, east south central, west south central, north central, mountain, pacific, midlands, east
        midlands, west midlands, east anglia, midlands east anglia, yorkshire, the north, the south, scotland, wales, urban, rural,
        suburban, semiurban, metropolitan, nonmetropolitan, big city, small town, large town, village, country village, inner city, suburb,
        downtown, oslo, trondelag, vestlandet, nord norge, innlandet""",
    "compass": """north, south, east, west, central, center, centre""",
    "state code": """
        al, ak, az, ar, ca, co, ct, de, dc, fl, ga, hi, id, il, in, ia, ks, ky, la, me, md, ma, mi, mn, ms, mo, mt, ne, nv, nh, nj, nm, ny,
        nc, nd, oh, ok, or, pa, ri, sc, sd, tn, tx, ut, vt, va, wa, wv, wi, wy""",
}  # fmt: skip
