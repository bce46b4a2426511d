import { AwsClient } from "aws4fetch";

/** Who reads objects of an S3-compatible endpoint. */
type Keys = { region: string; accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined };

/** What signs the reading of objects (AWS Signature Version 4). @returns the headers of a GET of a URL */
export function s3Signer({ region, sessionToken, ...keys }: Keys): (url: string) => Promise<Record<string, string>> {
  const client = new AwsClient({ ...keys, ...(sessionToken !== undefined && { sessionToken }), service: "s3", region });
  return async (url) => Object.fromEntries((await client.sign(url, { method: "GET" })).headers);
}
