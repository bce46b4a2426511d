import { s3Client, type S3Keys } from "../../base/s3Client.ts";

/** What signs the reading of objects. @returns the headers of a GET of a URL */
export function s3Signer(keys: S3Keys): (url: string) => Promise<Record<string, string>> {
  const client = s3Client(keys);
  return async (url) => Object.fromEntries((await client.sign(url, { method: "GET" })).headers);
}
