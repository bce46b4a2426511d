import type { S3Keys } from "../base/s3Client.ts";
import { UsageError } from "./errors.ts";

/** Before the names of Amazon's variables: other keys, for reading the inputs of jobs. */
const INPUTS = "REFUTE_INPUTS_";

/**
 * Returns the keys that Amazon's tools read from the environment.
 * @param what The feature with the need for keys, for the message.
 * @param prefix Before the names of the variables.
 * @throws UsageError if a variable is missing
 */
export function s3Keys(what: string, env: NodeJS.ProcessEnv = process.env, prefix = ""): S3Keys {
  // An empty variable counts as none.
  const given = (name: string): string | undefined => env[prefix + name] || undefined;
  const needed = (name: string): string => {
    const value = given(name);
    if (value === undefined) throw new UsageError(`${what} needs ${prefix}${name} in the environment`);
    return value;
  };
  return {
    region: given("AWS_REGION") ?? given("AWS_DEFAULT_REGION") ?? "us-east-1",
    accessKeyId: needed("AWS_ACCESS_KEY_ID"),
    secretAccessKey: needed("AWS_SECRET_ACCESS_KEY"),
    sessionToken: given("AWS_SESSION_TOKEN"),
  };
}

/** Returns the keys for job inputs: separate keys where given, because strangers name the places of inputs. */
export function inputKeys(what: string, env: NodeJS.ProcessEnv = process.env): S3Keys {
  const hasOwn = Object.keys(env).some((name) => name.startsWith(`${INPUTS}AWS_`) && env[name] !== "");
  return s3Keys(what, env, hasOwn ? INPUTS : "");
}
