import { LYING_CHALLENGERS } from "../../test-support/adversaries/challengers.ts";
import { siegeSuite } from "../../test-support/adversaries/suite.ts";

siegeSuite("lying challengers", LYING_CHALLENGERS);
