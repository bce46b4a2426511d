import { HOSTILE_CALLBACKS } from "../../test-support/adversaries/callbacks.ts";
import { siegeSuite } from "../../test-support/adversaries/suite.ts";

siegeSuite("hostile callbacks", HOSTILE_CALLBACKS);
