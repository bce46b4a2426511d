import { expect } from "chai";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concatHex, type Hex, type PublicClient } from "viem";
import type { JobRecord } from "../../../src/chain/market/history.ts";
import { inputFile } from "../../../src/chain/market/inputFile.ts";
import { referenceSuffix } from "../../../src/chain/market/references.ts";
import { NO_METER } from "../../../src/runs/figures.ts";
import type { Logger } from "../../../src/base/log.ts";
import { ReferencedInputs, type ReferenceOptions } from "../../../src/runs/inputs/referencedInputs.ts";
import { s3Signer } from "../../../src/runs/inputs/s3Signer.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { KEYS, REGION, S3Server } from "../../../testkit/fleet/s3Server.ts";
import { bytesProgram } from "../../../testkit/models/bytesModel.ts";
import { publishedRun } from "../../../testkit/programs/publishedRun.ts";

const BYTES = 3_000;
const program = bytesProgram(BYTES);
const contentOf = (seed: number): Uint8Array => Uint8Array.from({ length: BYTES }, (_, k) => (k * 7 + seed) & 0x7f);

describe("ReferencedInputs", () => {
  let folder: string;
  let server: Server;
  let answer: RequestListener;
  let asked: string[];
  let warnings: string[];
  let stop: AbortController;
  let calldata: Map<Hex, Hex>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    [asked, warnings, stop] = [[], [], new AbortController()];
    calldata = new Map();
    answer = (_, response) => response.end(contentOf(1));
    server = createServer((request, response) => {
      asked.push(request.url!);
      answer(request, response);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    stop.abort();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const host = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: ({ reason }: { reason: string }) => void warnings.push(reason),
    error: () => undefined,
  } as unknown as Logger;
  const open = (options: Partial<ReferenceOptions> = {}, hosts = [host()]): ReferencedInputs => {
    const publicClient = {
      getTransaction: ({ hash }: { hash: Hex }) =>
        hash === "0x" ? Promise.reject(new Error("gone")) : Promise.resolve({ input: calldata.get(hash) ?? "0x" }),
    } as unknown as PublicClient;
    const of = { lastSecondOf: () => 0n, knows: () => true };
    const at = { publicClient, folder, log, meter: NO_METER, signal: stop.signal, ...of };
    return new ReferencedInputs({ sources: { hosts }, seconds: 2, ...options }, at);
  };
  /** A job of the content of a seed that names some places. */
  const jobOf = (seed: number, ...uris: string[]): JobRecord => {
    const inputs = new RunInputs(program.model.program.inputs, { items: 1, firstItem: 0 }, [contentOf(seed)]);
    const job = publishedRun(program, inputs, seed);
    if (uris.length > 0) calldata.set(job.id, concatHex(["0x1234", referenceSuffix(uris)]));
    const record = { ...job, parts: new Map(), postedIn: job.id, job: { ...job.job, rootOnly: true }, alike: [] };
    return { ...record, alike: [record] };
  };
  const here = (path = "x"): string => `http://${host()}/${path}`;
  /** Has a job's inputs looked for once. */
  const search = async (inputs: ReferencedInputs, job: JobRecord): Promise<Uint8Array | undefined> => {
    inputs.of(job);
    await inputs.settled();
    const found = inputs.of(job);
    return found && inputFile(found);
  };
  const refusal = async (options: Partial<ReferenceOptions>, ...uris: string[]): Promise<string> => {
    expect(await search(open(options), jobOf(1, ...uris))).to.equal(undefined);
    return warnings.at(-1)!;
  };

  it("inputs_areFetchedOnce_andOutliveARestart_andARoundThatDoesNotKnowTheJob", async () => {
    const [inputs, job] = [open(), jobOf(1, here())];
    expect(inputs.awaits(job)).to.equal(true);
    await inputs.settled();
    expect(inputs.awaits(job)).to.equal(false);
    expect(inputs.of(job)!.bytes).to.deep.equal([contentOf(1)]);
    expect(open().of(job)!.bytes).to.deep.equal([contentOf(1)]);
    expect(asked).to.deep.equal(["/x"]);
    inputs.keep(new Map());
    expect([inputs.has(job), inputs.of(job)!.bytes]).to.deep.equal([true, [contentOf(1)]]);
    expect(asked).to.deep.equal(["/x"]);
  });

  it("fileThatSomethingChanged_isFetchedAgain", async () => {
    const job = jobOf(1, here());
    await search(open(), job);
    writeFileSync(join(folder, readdirSync(folder)[0]!), contentOf(2));
    expect(await search(open(), job)).to.deep.equal(contentOf(1));
    expect(asked).to.have.length(2);
  });

  it("gatewayAndEndpoint_serveWhatIsNamedByContentOrBucket_andNothingElseIsReached", async () => {
    const cid = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
    const sources = { ipfsGateway: `http://${host()}/g/`, s3Endpoint: `http://${host()}` };
    expect(await search(open({ sources }), jobOf(1, `ipfs://${cid}/f`))).to.deep.equal(contentOf(1));
    rmSync(join(folder, readdirSync(folder)[0]!));
    expect(await search(open({ sources }), jobOf(1, "s3://bucket/a/b.bin"))).to.deep.equal(contentOf(1));
    expect(asked).to.deep.equal([`/g/ipfs/${cid}/f`, "/bucket/a/b.bin"]);
    rmSync(join(folder, readdirSync(folder)[0]!));
    expect(await refusal({ sources }, here())).to.match(/only https/);
    expect(await refusal({ sources: {} }, `ipfs://${cid}`)).to.match(/--ipfs-gateway/);
    expect(await refusal({ sources: {} }, "s3://bucket/x")).to.match(/--s3-endpoint/);
    expect(asked).to.have.length(2);
  });

  it("bucketsThatAreNamed_areReadWithASignature_othersAndWhatRedirects_without", async () => {
    const s3 = new S3Server();
    const s3Endpoint = await s3.start();
    s3.objects.set("a/b.bin", contentOf(1));
    const headers = s3Signer({ region: REGION, ...KEYS });
    const place = `s3://${s3.bucket}/a/b.bin`;
    const signed = { s3Endpoint, s3Signer: { buckets: [s3.bucket], headers } };
    expect(await refusal({ sources: { s3Endpoint, s3Signer: { buckets: ["other"], headers } } }, place)).to.match(
      /403/,
    );
    expect(await search(open({ sources: signed }), jobOf(1, place))).to.deep.equal(contentOf(1));
    await s3.close();
    const seen: boolean[] = [];
    answer = (request, response) => {
      seen.push(request.headers.authorization !== undefined);
      if (request.url === "/elsewhere") response.end(contentOf(2));
      else response.writeHead(302, { location: "/elsewhere" }).end();
    };
    const sources = { s3Endpoint: `http://${host()}`, s3Signer: { buckets: ["mine"], headers } };
    expect(await search(open({ sources }), jobOf(2, "s3://mine/x"))).to.deep.equal(contentOf(2));
    expect(seen).to.deep.equal([true, false]);
  });

  it("otherPlaces_areTriedWhereOneFails_alsoThoseOfAJobThatAsksTheSame", async () => {
    answer = ({ url }, response) => response.end(contentOf(url === "/right" ? 1 : 2));
    expect(await search(open(), jobOf(1, here("wrong"), here("right")))).to.deep.equal(contentOf(1));
    rmSync(join(folder, readdirSync(folder)[0]!));
    const job = jobOf(1);
    const other = jobOf(9, here("right"));
    expect(await search(open(), { ...job, alike: [job, { ...other, job: { ...job.job } }] })).to.deep.equal(
      contentOf(1),
    );
  });

  it("wrongBytes_areNeverGiven", async () => {
    answer = (_, response) => response.end(contentOf(2));
    expect(await refusal({}, here())).to.match(/has other bytes than the job names/);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it("hostileServers_areCutOff", async () => {
    answer = (_, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(2 ** 16)));
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    };
    expect(await refusal({}, here())).to.match(/more than the 3000 bytes/);
    answer = (_, response) => void response.writeHead(200, { "content-length": 10 ** 12 }).flushHeaders();
    expect(await refusal({}, here())).to.match(/has 1000000000000 bytes, but the job's inputs 3000/);
    answer = (_, response) => void response.writeHead(200).write(contentOf(1).subarray(0, 3));
    expect(await refusal({ seconds: 0.2 }, here())).to.match(/not there after 0.2 s/);
    answer = () => undefined;
    expect(await refusal({ seconds: 0.2 }, here())).to.match(/not there after 0.2 s/);
    answer = (_, response) => response.end(contentOf(1).subarray(1));
    expect(await refusal({}, here())).to.match(/2999/);
    answer = (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(contentOf(1));
    expect(await refusal({}, here())).to.match(/encoding gzip/);
    const bytes = contentOf(2);
    answer = (_, response) => {
      bytes.forEach((_byte, k) => response.write(bytes.subarray(k, k + 1)));
      response.end();
    };
    expect(await refusal({}, here())).to.match(/has other bytes/);
    answer = (_, response) => response.writeHead(404).end();
    expect(await refusal({}, here())).to.match(/answers 404/);
  });

  it("redirects_leadNeitherToThisMachine_norIntoTheNetwork_norOnForEver", async () => {
    const { port } = server.address() as AddressInfo;
    for (const location of [
      `http://localhost:${port}/x`,
      `https://localhost:${port}/x`,
      "http://127.0.0.1:1/x",
      "https://127.0.0.1:1/x",
      "https://[::1]/x",
      "https://10.0.0.1/x",
      "https://169.254.169.254/latest/meta-data",
      "http://files.example/x",
      "file:///etc/passwd",
    ]) {
      answer = (_, response) => response.writeHead(302, { location }).end();
      expect(await refusal({}, here()), location).to.match(/refused/);
    }
    asked = [];
    answer = (_, response) => response.writeHead(302, { location: "/x" }).end();
    expect(await refusal({}, here())).to.match(/more than 3 redirects/);
    expect(asked).to.have.length(4);
  });

  it("placesOfThisMachineOrItsNetwork_areRefusedUnlessTheirHostIsAllowed", async () => {
    const refused = async (uri: string): Promise<string> => {
      expect(await search(open({}, []), jobOf(1, uri)), uri).to.equal(undefined);
      return warnings.at(-1)!;
    };
    for (const uri of [
      here(),
      "https://127.0.0.1/x",
      "https://localhost/x",
      "https://192.168.0.1/x",
      "https://[fd00::1]/x",
    ])
      expect(await refused(uri), uri).to.match(/refused/);
    expect(asked).to.deep.equal([]);
  });

  it("placesThatDrip_doNotKeepOthersWaiting_norDoTheirNextTries", async () => {
    answer = ({ url }, response) => {
      if (url === "/x") response.end(contentOf(1));
      else response.write("x");
    };
    const inputs = open({ seconds: 0.3 });
    const decoys = [2, 3, 4, 5, 6, 7].map((seed) => jobOf(seed, here(`drip${seed}`)));
    for (const decoy of decoys) inputs.of(decoy);
    const job = jobOf(1, here());
    expect(await search(inputs, job)).to.deep.equal(contentOf(1));
    expect(decoys.map((decoy) => inputs.awaits(decoy))).to.not.include(true);
  });

  it("transactionOfAnotherJobThatNoNodeHas_isPassedOver", async () => {
    const [job, other] = [jobOf(1, here("wrong"), here()), jobOf(9)];
    answer = ({ url }, response) => response.end(contentOf(url === "/x" ? 1 : 2));
    const gone = { ...other, postedIn: "0x" as Hex };
    expect(await search(open(), { ...job, alike: [gone, job] })).to.deep.equal(contentOf(1));
  });

  it("failure_isNotTriedAgainAtOnce", async () => {
    answer = (_, response) => response.writeHead(503).end();
    const [inputs, job] = [open(), jobOf(1, here())];
    for (let round = 0; round < 3; round++) await search(inputs, job);
    expect(asked).to.have.length(1);
    expect(inputs.awaits(job)).to.equal(false);
  });

  it("room_isMadeOfJobsThatNobodyHasClaimed_andNotOfOthers", async () => {
    answer = ({ url }, response) => response.end(contentOf(Number(url!.slice(1))));
    const inputs = open({ keptInputBytes: 2 * BYTES });
    const jobs = [1, 2, 3, 4].map((seed) => jobOf(seed, here(String(seed))));
    jobs[0] = { ...jobs[0]!, claims: [{}] as unknown as JobRecord["claims"] };
    inputs.keep(new Map(jobs.map((job) => [job.id, job])));
    for (const job of jobs.slice(0, 3)) expect(await search(inputs, job)).to.not.equal(undefined);
    expect(readdirSync(folder)).to.have.length(2);
    expect(open().of(jobs[0])).to.not.equal(undefined);
    jobs[2] = { ...jobs[2]!, claims: [{}] as unknown as JobRecord["claims"] };
    inputs.keep(new Map(jobs.map((job) => [job.id, job])));
    // What there is no room for is there all the same, until a restart.
    expect(await search(inputs, jobs[3]!)).to.deep.equal(contentOf(4));
    expect(warnings.at(-1)).to.match(/MiB/);
    expect(readdirSync(folder)).to.have.length(2);
    expect(await search(open({ maxInputBytes: 2_999 }), jobs[1]!)).to.equal(undefined);
    expect(warnings.at(-1)).to.match(/has 3000 bytes of inputs, and 2999 are fetched at most/);
  });

  it("jobWithoutAPlace_orThatPublishesItsInputs_isNotFetched", async () => {
    const inputs = open();
    expect(await search(inputs, jobOf(1))).to.equal(undefined);
    expect(warnings).to.deep.equal(["no transaction says where they lie"]);
    const job = jobOf(2, here());
    expect(await search(inputs, { ...job, job: { ...job.job, rootOnly: false } })).to.equal(undefined);
    expect(await search(inputs, { ...job, inputRoots: [`0x${"12".repeat(32)}`] })).to.equal(undefined);
    expect(asked).to.deep.equal([]);
  });
});
