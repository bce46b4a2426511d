import { HOSTILE_CHAINS } from "../../test-support/adversaries/chain.ts";
import { siegeSuite } from "../../test-support/adversaries/suite.ts";

siegeSuite("hostile chains", HOSTILE_CHAINS);
