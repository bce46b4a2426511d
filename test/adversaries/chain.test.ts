import { HOSTILE_CHAINS } from "../../testkit/adversaries/chain.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("hostile chains", HOSTILE_CHAINS);
