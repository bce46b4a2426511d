import { errorWithCode } from "../../base/errors.ts";

/** The network, the stake asset or the account is not fit for a deployment. Nothing was sent. */
export class DeployRefusedError extends errorWithCode("DEPLOY_REFUSED") {}

/** A deployment stopped on the way, or differs from the expected deployment. The message explains what to do. */
export class DeployFailedError extends errorWithCode("DEPLOY_FAILED") {}
