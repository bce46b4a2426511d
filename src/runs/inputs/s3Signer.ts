import { s3Client, type S3Keys } from "../../base/s3Client.ts";

/** Makes a signer for read requests of objects. @returns the headers of a GET for a URL */
export function s3Signer(keys: S3Keys): (url: string) => Promise<Record<string, string>> {
  const client = s3Client(keys);
  return async (url) => Object.fromEntries((await client.sign(url, { method: "GET" })).headers);
}
