import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { look, type Outcome } from "../../testkit/disturbances/fullDisk.ts";

const [ROOM_KIB, LARGE] = [256, 2 ** 20];

describe("a disk that becomes full", function () {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "refute-full-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("isSaidByEachLedgerAndCache_thatKeepsWhatItHad_andGoesOn_andLeavesNothingHalf", async function () {
    this.timeout(60_000);
    // A limit on the size of files is met as a disk that is full.
    const command = `ulimit -f ${ROOM_KIB}; exec "$0" testkit/disturbances/fullDisk.ts "$1" ${LARGE}`;
    const ended = spawnSync("bash", ["-c", command, process.execPath, folder], { encoding: "utf8" });
    expect(ended.status, ended.stderr).to.equal(0);
    const outcomes = JSON.parse(ended.stdout) as Record<string, Outcome>;
    await look(folder, outcomes);
    const errors = Object.entries(outcomes).map(([what, { error }]) => [what, error]);
    expect(Object.fromEntries(errors)).to.deep.equal({
      seals: "DATABASE_ACCESS",
      "ledger of a worker": "DATABASE_ACCESS",
      "ledger of a payer": "DATABASE_ACCESS",
      "state of a batch": "DATABASE_ACCESS",
      "cache of events": "no code",
      "store of a fleet": "STORE_FULL",
      "fetched inputs": "EFBIG",
      "outputs of a batch": "DISPATCH_OUTPUT",
      "files that commands write": "EFBIG",
      "files of a stand-in": "STAND_IN_FILE",
      "a stand-in's counter": "STAND_IN_FILE",
    });
    for (const [what, { kept, files }] of Object.entries(outcomes)) {
      expect(kept.sort(), what).to.deep.equal(["after", "before"]);
      expect(
        files.filter((name) => /part|tmp|new$|large/.test(name)),
        what,
      ).to.deep.equal([]);
    }
  });
});
