import { errorWithCode } from "../../base/errors.ts";

/** The network, the stake asset or the account is not fit for a deployment. Nothing was sent. */
export class DeployRefusedError extends errorWithCode("DEPLOY_REFUSED") {}

/** A deployment that stopped on its way, or is not what it should be. The message says what to do. */
export class DeployFailedError extends errorWithCode("DEPLOY_FAILED") {}
