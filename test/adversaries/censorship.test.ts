import { CENSORS } from "../../testkit/adversaries/censorship.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("hostile chains", CENSORS);
adversarySuite("hostile chains, about answers", CENSORS, { forms: ["answer"] });
