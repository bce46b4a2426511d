import { errorWithCode } from "../../base/errors.ts";

/** A deployment's parameters contradict each other, or a file that the deployment needs is missing or malformed. */
export class DeployParametersError extends errorWithCode("DEPLOY_PARAMETERS") {}

/** A file of addresses that cannot be read. */
export class AddressFileError extends errorWithCode("ADDRESS_FILE") {}
