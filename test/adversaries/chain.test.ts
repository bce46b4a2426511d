import { HOSTILE_CHAINS } from "../../testkit/adversaries/chain.ts";
import { siegeSuite } from "../../testkit/adversaries/suite.ts";

siegeSuite("hostile chains", HOSTILE_CHAINS);
