import { LYING_CHALLENGERS } from "../../testkit/adversaries/challengers.ts";
import { siegeSuite } from "../../testkit/adversaries/suite.ts";

siegeSuite("lying challengers", LYING_CHALLENGERS);
