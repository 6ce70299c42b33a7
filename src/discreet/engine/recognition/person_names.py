"""Frequent given and family names of several languages, without accents and in small letters.

A column of people's names holds many of them whatever the country's full register is: about half of the records of a list of
American given names, a quarter of American surnames. Names that are also places or plain words (Virginia, Paris, Rose, Long)
are left out, so that a column of cities, counties or products holds hardly any.
"""

from __future__ import annotations

from discreet.engine.recognition.name_rules import word_set

_GIVEN_ELSEWHERE = word_set(
    """
    aarav abhishek abimbola abiodun adaeze adebayo adeola aditi aditya adunni ajay akash akira aleksander aleksandr alexei
    alexey alisher amina aminata amira amit amitabh anand anastasiya anders andrei andrey anil anita anjali ankit ankita anya
    aoife arash arjun artem arun aruna aryan asha ashok ashwin ayesha aylin ayodele babajide bao bartosz bashir bilal binta
    bogdan boris bozena camila catalina chandra chiamaka chidi chidinma chinedu chinonso chinwe chioma chukwuemeka ciaran
    dariusz darya deepa deepak deepika denys devika dhruv dieudonne dilip dinesh divya dmitriy dmitry dogan dong duc duong ebru
    ekaterina elif emeka emin emre ewa fadi farah fatma fatoumata fatou femi feng folake funmilayo galina ganesh gauri geeta
    gita giorgos goran grazyna grzegorz guenter guenther gunther gunnar habib haitham hakan hamid hao haruka haruki hasan hemant
    hideo hieu hoa hong hua huda huong hung huseyin ifeanyi ifeoma ignacio ikechukwu imran indira ingeborg ioannis ismail itziar
    ivana jadwiga jagdish jamal jana jaroslav jia jie jing joerg jorg jun juergen jurgen jyoti kaethe kamal kamala kareem karim
    karthik katarzyna kathe kavita kazuo keiko kemal kenta khadija kiran kishore komal konstantin kostas krishna krzysztof
    kseniya kunal kwabena kwame kwesi lakshmi lalita lamar latoya layla leila lei ling lijun linh lyudmila maciej madhu mahesh
    mahmoud malgorzata mamadou mandeep manish manoj mansour mariam mariusz mariya maryam masako masashi maxim meena meera mehdi
    mihai mikhail minh ming mohan moussa mukesh murat mustapha nadezhda naila nam namrata nandini narendra naresh nasser natalya
    neha ngoc ngozi nguyet nikhil nikita nikolai nikolaos nikolay nisha nitin noor nuno nur obinna oksana oleksandr oluwaseun
    oluwatobi omotola onur ousmane padma pallavi pankaj pawel phuong piotr pooja prakash pranav prasad pratik preeti priyanka
    qiang quang quoc rachid radha rahul rajan rajendra rakesh ram ramesh ramya rana rani ranjit rashid rashmi ravi reza rohan
    rohit rokas roza ruslan rustam ryszard sachin sadia saeed sagar said sakura salim salma samir sandeep sangeeta sanjay
    sanjana santosh sanne sapna satish savita seema sergey shabnam shankar sharad shilpa shinji shiv shivani shreya shyam
    siddharth sina siobhan sita slawomir sneha soeren sonali soren srinivas stanislav subhash sudha sunil sunita suresh sushila
    swati tadashi takashi takeshi tamar tamika tariq tatyana tejas temitope thanh thao thi thuy tomasz trang trung tuan tunde
    uche uday ulla usha vadim valentin varun vasilis vasily veena vera viet vijay vikas vikram vinay vinod vishal viktoriya
    volodymyr wael wojciech xiang xiaoming xin yan yana yasmine yekaterina yelena yetunde ying yong yosef youssef yulia yuliya
    yusra zainab zbigniew zeynep zhen zhong zsofia
    """
)
"""Frequent in South Asia, Africa, East Asia, Eastern Europe and the Near East, as they are written in Latin letters."""

GIVEN = _GIVEN_ELSEWHERE | word_set(
    """
    aaron abdul abdullah adam adrian adriana agnes ahmed aisha alan albert alberto alejandra alejandro alessandro alex
    alexander alexandra alexis alfredo alice alicia alina ali allison amanda amber amelia amy ana anastasia andre andrea andreas
    andres andrew angel angela angelina anita ann anna anne annette annie anthony antoine anton antonio april ari arthur arturo
    ashley astrid ayse barbara beatrice beatriz ben benjamin bernd bernhard beth betty beverly bianca bill billy birgit bjorn bob
    bobby brandon brenda brian bridget brigitte bruce bryan caitlin camille carl carla carlos carmen carol caroline
    carolyn carsten cassandra catherine cathy cecilia celine chad charles chen cheryl chloe chris christian christiane
    christina christine christopher cindy claire clara claudia claus clemens colin connor corey courtney craig cristina
    crystal cynthia daisy dan dana daniel daniela danielle danny darius darren dave david dawn deborah debra denis denise dennis
    derek diana diane diego dieter dimitri dirk dmitri dominik dominique donald donna doris dorothy douglas dylan eduardo
    edward edwin eeva eileen elena eleanor elias elisabeth elizabeth ella ellen emil emilia emily emma emmanuel enrique eric
    erica erik erika erin ernesto ernst esther ethan eugene eva evan evelyn fabian fatima felix ferdinand fernanda
    fernando fiona francesca francesco francisco francois frank franz fred frederic friedrich gabriel gabriela gabriele gary
    george georg gerald gerard gerhard gianni gilbert gina giovanni giulia giuseppe gloria greg gregory greta guido guillaume
    guillermo gunter gustav hannah hannelore hans harald harry hassan heather heidi heike heinrich heinz helen helena helga
    helmut henri henrik henry herbert hermann hiroshi holger horst hugo hussein ibrahim igor ilse ines ingrid irene iris irina
    isaac isabel isabella ivan jack jacob jacqueline jacques jaime jakob james jamie jan jana jane janet janice jari jason
    javier jean jeff jeffrey jennifer jenny jeremy jerome jerry jesse jessica jesus jill jim jimmy joachim joan joanna joao joe
    joel johan johann johanna johannes john johnny jon jonas jonathan jordi jorge jose josef joseph joshua joyce juan
    juanita judith judy juergen juha juhani julia julian juliana julie julien juliette julio justin jutta kaarina kai karen karin
    karina karl karsten kate katharina katherine kathleen kathryn kathy katja katrin kayla keith kelly ken kenji kenneth kevin
    khalid kim kimberly kirsten klaus kristen kristina kumar kurt kyle lance larissa larry lars laura lauren laurent lea
    leah lena leo leon leonardo leonie leroy leslie li liam liisa lilly lina linda lisa lucas lucia lucie luigi luis luisa lukas
    luke lydia maja magdalena mandy manfred manuel manuela marc marcel marcia marco marcos marcus margaret margarita maria
    mariana marianne marie mario marion mariska marjatta mark markus marta martha martin martina mary mateo mathias
    mathieu matteo matthew matthias matti maureen maurice max maximilian megan mehmet mei melanie melissa mercedes mia michael
    michaela michel michele michelle miguel mika mike mikhail mikko mila milan mohamed mohammad mohammed monica monika
    monique muhammad mustafa nadia nadine nancy naomi natalia natalie natasha nathan nicholas nick nicola nicolas nicole niklas
    nils nina noah nora norbert norma olaf oleg olga oliver olivia olivier omar oscar oskar osman otto pablo pamela paola
    pascal pat patricia patricio patrick patrik paul paula paulo pavel pedro peggy pekka peter petra petri petros philip philipp
    philippe phyllis pierre pietro pirjo priya rachel rafael rainer raj rajesh ralf ralph ramon raul raymond rebecca regina
    reinhard renate rene ricardo richard rick rita robert roberta roberto robin rodrigo roger roland rolf romain roman ronald
    ronny rosa rosemary roxanne ruben rudolf russell ruth ryan sabine sabrina salvatore sam samantha samuel sandra sandy santiago
    sara sarah sari saskia scott sean sebastian sergei sergio shannon sharon shawn sheila shirley sigrid silke silvia simon
    simone sofia sonia sonja sophia sophie stefan stefanie stella stephan stephanie stephen stephane steve steven sue susan
    susana susanne sven svetlana sylvia sylvie tamara tammy tania tanja tanya tapio tara tatiana ted teresa terry theo theodor
    theresa therese thomas thorsten tiffany tim timo timothy tina todd tom tomas tommy toni tony torsten tracy travis tuula tyler
    ulrich ulrike ursula uwe valentina valerie vanessa vera veronica veronika victor victoria viktor vincent viola virginie
    vladimir volker walter wanda wei wendy werner wilhelm willem william wolfgang xavier yasmin yolanda yuki yuri yusuf yves
    yvonne zachary zoe
    """
)

_FAMILY_ELSEWHERE = word_set(
    """
    abdullah abubakar acharya adeyemi agarwal aggarwal ahmad aksoy ali amadi ansari arslan asante aydin babu balogun banerjee
    basu bhatt bhattacharya bondarenko bose celik chakraborty chandrasekhar chatterjee chaudhary chauhan chopra choudhury
    chowdhury chukwu das demir desai deshmukh diallo diop do dogan dutta eze fofana gandhi garg georgiou ghosh goyal guo haddad
    he hosseini hu huang hussain inoue islam iyer jha jain joshi kamara kapoor kato kaur kaya keita khanna kobayashi koroleva
    kovac kovacs kozlov kravchenko krishnan kulkarni lebedev lee lin lu luo mahmoud malik mehta mensah menon mishra mitra
    mohammadi mukherjee nair nakamura nasser nayak ndiaye nkosi novikov nowak obi ochieng odhiambo okafor okeke okonkwo ono
    ozturk pandey papadopoulos park pathak pavlov pillai prasad qureshi rahman rana rao rathore reddy sahin sahu saito saleh
    santoso sarkar saxena semenov sen sethi shah shevchenko shen siddiqui sidhu sinha sokolov sorokin srivastava sun takahashi
    tang thakur tiwari traore tripathi varma vasiliev verma vo volkov vu wei wisniewski wojcik wu xie xu yadav yamada yoshida yu
    zaytsev zheng zhou zhu
    """
) - word_set("do he sun park lin lu ali sen")

FAMILY = _FAMILY_ELSEWHERE | word_set(
    """
    aalto adams ahmed alexander allen almeida alonso alvarez andersen anderson andersson araujo bailey baker bakker barbosa
    barnes bauer baumann becker bell bennett bernard bianchi bianco boyd brooks brown bruno bryant butler campbell cardoso
    carlson carter castillo castro chavez chen clark coleman collins colombo conti cooper costa cox cruz cunha davis degroot
    dekker delgado deluca diaz dietrich dixon dubois dumont dupont durand edwards ellis esposito evans fernandes fernandez
    ferrari ferreira fischer fisher flores fontana ford foster fournier fox francois frank freeman friedrich fuchs
    garcia garnier george gibson girard gomes gomez goncalves gonzales gonzalez graham gray greco green griffin gross gruber
    gupta gutierrez guzman haas hahn hall hamilton hansen hansson harris harrison hartmann hayes heikkinen heinonen
    henderson henry hernandez herrera herrmann hill hoang hoffmann hofmann howard huber hughes hunt huynh ivanov ivanova
    jackson jacobs jaervinen jansen jansson jenkins jensen jimenez johansen johansson johnson jones jordan jorgensen jung
    kaiser kaplan karlsson keller kelly kennedy khan kim king klein koch koehler koenig koskinen kowalski kraus krause kruger
    kumar kuznetsov lambert lange larsen larsson lefebvre lehmann lehtinen lehtonen leroy lewis liu lombardi long lopes
    lopez lorenz ludwig maier makela marino marques marshall martinez martins mason matthews mayer mcdonald medina meier
    meijer mendoza mercier meyer miller mills mitchell molina moore morales moreau moreno moretti morgan moreira morin morris
    mueller mulder muller munoz murphy murray myers neumann nguyen nielsen nieminen nilsson novak oliveira olsen olsson ortega
    ortiz owens palmer parker patel patterson pedersen peeters pereira perez perry persson peters petersen peterson petit
    petrov pham phillips pinto popov powell price ramirez ramos rasmussen reed reyes reynolds ribeiro ricci richards richardson
    richter rivera rizzo roberts robertson robinson rocha rodrigues rodriguez rogers rojas romano romero rossi rousseau roux
    ruiz russo saarinen salazar salo sanchez sanders santana santos sato sauer schaefer schmid schmidt schmitt schmitz
    schneider scholz schreiber schroeder schubert schulte schulz schumacher schuster schwarz seidel sharma shaw silva
    simmons simon simpson singh smirnov smit smith snyder soares sorensen soto sousa souza stein stevens stewart suarez sullivan
    suzuki svensson tanaka taylor teixeira thomas thomsen thompson toivonen torres tran tucker turner vargas vasquez vazquez
    vieira virtanen visser vogel vogt wagner walker wallace walter wang ward watanabe watson weber webb wells werner west
    white williams williamson wilson winkler winter wolf wolff wong wright yamamoto yang ylmaz yildiz young zhang zhao ziegler
    zimmermann
    """
) - word_set("long west wells winter young king hill hunt white brown green gray fox price ford")
