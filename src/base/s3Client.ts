import { AwsClient } from "aws4fetch";

/** Who asks a server of the protocol of S3. */
export type S3Keys = {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
};

/** Signs requests (AWS Signature Version 4). It makes each once: who asks repeats it where that is of use. */
export function s3Client({ region, accessKeyId, secretAccessKey, sessionToken }: S3Keys): AwsClient {
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  return new AwsClient({ ...keys, service: "s3", region, retries: 0 });
}
