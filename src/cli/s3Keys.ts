import { UsageError } from "./errors.ts";

/** Who asks a store of the protocol of S3. */
export type S3Keys = {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
};

/**
 * What Amazon's tools read from the environment.
 * @param what Needs it, for the message.
 * @throws UsageError if a variable is missing
 */
export function s3Keys(what: string, env: NodeJS.ProcessEnv = process.env): S3Keys {
  const needed = (name: string): string => {
    const value = env[name] ?? "";
    if (value === "") throw new UsageError(`${what} needs ${name} in the environment`);
    return value;
  };
  return {
    region: env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? "us-east-1",
    accessKeyId: needed("AWS_ACCESS_KEY_ID"),
    secretAccessKey: needed("AWS_SECRET_ACCESS_KEY"),
    sessionToken: env.AWS_SESSION_TOKEN,
  };
}
