import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { BlobStore } from "../../../src/runs/fleet/blobStore.ts";
import { StoreCorruptError, StoreError, StoreFullError } from "../../../src/runs/fleet/errors.ts";
import { FolderStore } from "../../../src/runs/fleet/folderStore.ts";
import { S3Store } from "../../../src/runs/fleet/s3Store.ts";
import { KEYS, REGION, S3Server } from "../../../testkit/fleet/s3Server.ts";
import { rejection } from "../../../testkit/rejection.ts";

const NAME = "tensors/ab/cdef.json";
const MAX = 70_000;
const BYTES = Uint8Array.from({ length: 70_000 }, (_, k) => k);

async function keepsWhatIsPut(store: BlobStore): Promise<void> {
  expect(await store.get(NAME, MAX)).to.equal(undefined);
  expect(await store.has(NAME)).to.equal(false);
  await store.put(NAME, BYTES);
  expect(await store.has(NAME)).to.equal(true);
  expect(await store.get(NAME, MAX)).to.deep.equal(BYTES);
  await store.put(NAME, BYTES.subarray(0, 3));
  expect(await store.get(NAME, MAX)).to.deep.equal(BYTES.slice(0, 3));
  await store.put("tensors/empty", new Uint8Array(0));
  expect(await store.get("tensors/empty", 0)).to.have.length(0);
  expect(await rejection(store.get(NAME, 2))).to.be.instanceOf(StoreCorruptError);
  for (const name of ["../up", "tensors/../../up", "/etc/x", "tensors/a/b/c", "other/a", "tensors/.hidden"])
    expect(await rejection(store.put(name, BYTES)), name).to.be.instanceOf(StoreError);
  await store.delete(NAME);
  await store.delete(NAME);
  expect(await store.get(NAME, MAX)).to.equal(undefined);
}

describe("stores of a fleet", () => {
  describe("a folder", () => {
    let folder: string;
    let store: FolderStore;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "refute-store-"));
      store = new FolderStore(join(folder, "store"));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it("keepsWhatIsPut_andNothingElse", async () => {
      await keepsWhatIsPut(store);
      expect(readdirSync(join(folder, "store", "tensors", "ab"))).to.deep.equal([]);
    });

    it("whatCannotBeWritten_isNamed", async () => {
      writeFileSync(join(folder, "store"), "a file where the folder should be");
      const error = await rejection(store.put(NAME, BYTES));
      expect(error).to.be.instanceOf(StoreError);
      expect(error.message).to.match(/cannot be written \((ENOTDIR|EEXIST)\)/);
      expect(await store.get(NAME, MAX)).to.equal(undefined);
    });

    it("prune_deletesWhatIsOld_andNothingOfOthers", async () => {
      await store.put("tensors/ab/old", BYTES);
      await store.put("tensors/new", BYTES);
      const foreign = join(folder, "store", "tensors", "ab", "a holiday.jpg");
      writeFileSync(foreign, "whoever put it there");
      writeFileSync(join(folder, "store", "thesis.tex"), "whoever put it there");
      const old = ["tensors/ab/old", "tensors/ab/a holiday.jpg", "thesis.tex"].map((one) => join(folder, "store", one));
      for (const path of old) utimesSync(path, 1, 1);
      expect(await store.prune(60_000)).to.equal(1);
      expect(old.map((path) => existsSync(path))).to.deep.equal([false, true, true]);
      expect(await store.has("tensors/new")).to.equal(true);
    });
  });

  describe("S3", () => {
    let server: S3Server;
    let endpoint: string;
    beforeEach(async () => {
      server = new S3Server();
      endpoint = await server.start();
    });
    afterEach(() => server.close());
    const storeOf = (change: object = {}) =>
      new S3Store({ bucket: server.bucket, prefix: "fleet/", endpoint, region: REGION, ...KEYS, ...change });

    it("keepsWhatIsPut_withSignaturesThatAnIndependentServerTakes", async () => {
      await keepsWhatIsPut(storeOf());
      await storeOf().put(NAME, BYTES);
      expect([...server.objects.keys()]).to.deep.equal(["fleet/tensors/empty", `fleet/${NAME}`]);
    });

    it("wrongKeysAndBuckets_areNamed_withoutTheKey", async () => {
      const error = await rejection(storeOf({ secretAccessKey: "an0therSecret" }).put(NAME, BYTES));
      expect(error).to.be.instanceOf(StoreError);
      expect(error.message).to.equal("s3://tensors/fleet/ does not answer PUT: HTTP 403 (SignatureDoesNotMatch)");
      const noBucket = await rejection(storeOf({ bucket: "other" }).get(NAME, MAX));
      expect(noBucket.message).to.contain("HTTP 404 (NoSuchBucket)");
    });

    it("whatIsRefusedForNow_isAskedAgain", async () => {
      server.fault = { status: 503, code: "SlowDown", times: 2 };
      await storeOf().put(NAME, BYTES);
      expect(server.requests).to.equal(3);
      server.fault = { status: 500, code: "InternalError", times: 4 };
      expect((await rejection(storeOf().get(NAME, MAX))).message).to.contain("HTTP 500 (InternalError)");
      expect(await storeOf().get(NAME, MAX)).to.deep.equal(BYTES);
    });

    it("aFullServer_isTold", async () => {
      server.fault = { status: 507, code: "XMinioStorageFull", times: 1 };
      expect(await rejection(storeOf().put(NAME, BYTES))).to.be.instanceOf(StoreFullError);
    });

    it("aServerThatIsAway_isNamed", async () => {
      await server.close();
      const error = await rejection(storeOf().get(NAME, MAX));
      expect(error).to.be.instanceOf(StoreError);
      expect(error.message).to.contain("s3://tensors/fleet/ does not answer GET");
    });
  });
});
