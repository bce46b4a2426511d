import { AwsClient } from "aws4fetch";

/** The credentials for a server with the S3 protocol. */
export type S3Keys = {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
};

/**
 * Returns a client that signs requests (AWS Signature Version 4). The client sends each request once: the caller
 * repeats a request if useful.
 */
export function s3Client({ region, accessKeyId, secretAccessKey, sessionToken }: S3Keys): AwsClient {
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  return new AwsClient({ ...keys, service: "s3", region, retries: 0 });
}
