import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { pino } from "pino";
import { UsageError } from "../../src/cli/errors.ts";
import { openExecutionQueue, openStore, queueUrl, snapshotSecret } from "../../src/cli/fleetSettings.ts";
import { inputKeys } from "../../src/cli/s3Keys.ts";
import { FolderStore } from "../../src/runs/fleet/folderStore.ts";
import { EmbeddedQueue } from "../../src/runs/executionQueue.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { Health } from "../../src/base/health.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("settings of a fleet", () => {
  it("queue_isAUrlWithoutAPassword_andNothingOfItIsRepeated", () => {
    expect(queueUrl("rediss://queue.internal:6379/2", "--queue")).to.equal("rediss://queue.internal:6379/2");
    for (const [url, says] of [
      ["redis://:s3cret@queue", "has a password or a query: set REFUTE_QUEUE_PASSWORD"],
      ["redis://queue?password=s3cret", "has a password or a query"],
      ["https://queue", "has the protocol https"],
      ["queue:6379", "has the protocol queue"],
      ["/tmp/queue", "is no URL"],
    ] as const) {
      const refused = (): unknown => queueUrl(url, "--queue");
      expect(refused).to.throw(UsageError, says);
      expect(refused).to.not.throw(/s3cret/);
    }
  });

  it("bucket_needsItsKeys_fromTheEnvironment", () => {
    expect(openStore("/mnt/refute")).to.be.instanceOf(FolderStore);
    expect(() => openStore("s3://", {})).to.throw(UsageError, "expected s3://bucket/prefix");
    expect(() => openStore("s3://bucket", {})).to.throw(UsageError, "needs AWS_ACCESS_KEY_ID in the environment");
    const env = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "s3cret" };
    expect(openStore("s3://bucket/fleet", env).name).to.equal("s3://bucket/fleet/");
  });

  it("inputs_haveKeysOfTheirOwn_ifAnyOfTheseIsGiven", () => {
    const store = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "s3cret", AWS_REGION: "" };
    const keys = { region: "us-east-1", accessKeyId: "id", secretAccessKey: "s3cret", sessionToken: undefined };
    expect(inputKeys("--s3-buckets", store)).to.deep.equal(keys);
    const id = { ...store, AWS_SESSION_TOKEN: "token", REFUTE_INPUTS_AWS_ACCESS_KEY_ID: "reader" };
    expect(() => inputKeys("--s3-buckets", id)).to.throw(UsageError, "needs REFUTE_INPUTS_AWS_SECRET_ACCESS_KEY");
    const own = inputKeys("--s3-buckets", { ...id, REFUTE_INPUTS_AWS_SECRET_ACCESS_KEY: "other" });
    expect(own).to.deep.equal({ ...keys, accessKeyId: "reader", secretAccessKey: "other" });
  });

  it("snapshotKey_isAFileOf32BytesOrMore", () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-key-"));
    const path = join(folder, "key");
    const secretOf = (content: string | Uint8Array): Uint8Array => {
      writeFileSync(path, content);
      return snapshotSecret(path, "/mnt/refute")!;
    };
    try {
      expect(snapshotSecret(undefined, undefined)).to.equal(undefined);
      expect(() => snapshotSecret(path, undefined)).to.throw(UsageError, "also needs --store");
      expect(() => snapshotSecret(path, "/mnt/refute")).to.throw(
        UsageError,
        /--snapshot-key .*is missing.*openssl rand -hex 32/,
      );
      expect(() => secretOf("s3cret\n"))
        .to.throw(UsageError, "has 6 bytes of 32 at least")
        .and.not.match(/s3cret/);
      // With a line feed at its end or without.
      expect(secretOf(`${"ab".repeat(32)}\n`)).to.deep.equal(secretOf("ab".repeat(32)));
      expect(secretOf(`${"cd".repeat(32)}\nef\n`)).to.deep.equal(secretOf(`${"cd".repeat(32)}\nef`));
      const random = Uint8Array.from({ length: 32 }, (_, k) => 200 + k);
      expect(Buffer.from(secretOf(random)).equals(random)).to.equal(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("queueAndStore_goTogether_andWithoutThem_thisProcessExecutes", async () => {
    const log = pino({ level: "silent" });
    const beside = { health: new Health(log), meter: NO_METER, log };
    const here = () => Promise.resolve([]);
    const open = (queue?: string, store?: string) => openExecutionQueue({ queue, store, againShare: 0 }, here, beside);
    expect(await open()).to.be.instanceOf(EmbeddedQueue);
    expect(await rejection(open(undefined, "/mnt/refute"))).to.be.instanceOf(UsageError);
    expect(await rejection(open("redis://127.0.0.1:1", undefined))).to.be.instanceOf(UsageError);
  });
});
