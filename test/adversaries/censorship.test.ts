import { CENSORS } from "../../testkit/adversaries/censorship.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("hostile chains", CENSORS);
