import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Database, type Content } from "../../../src/base/database/database.ts";
import { DatabaseAccessError, DatabaseFileError, DatabaseInUseError } from "../../../src/base/database/errors.ts";
import { rejection } from "../../../testkit/rejection.ts";

const CONTENT: Content = {
  applicationId: 77,
  what: "a test's state",
  schema: "create table counts (name text primary key, value integer, data blob)",
  version: 1,
};

describe("the embedded database", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "refute-database-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("rows_outliveClosing_andATransactionThatThrows_leavesNothing", async () => {
    const path = join(folder, "state.db");
    const first = await Database.open(path, CONTENT);
    first.run("insert into counts values (?, ?, ?)", "a", 3, new Uint8Array([1, 2]));
    expect(() =>
      first.transaction(() => {
        first.run("insert into counts values ('b', 4, null)");
        throw new RangeError("no");
      }),
    ).to.throw(RangeError);
    expect(first.transaction(() => first.all("select name from counts").length)).to.equal(1);
    first.close();
    const again = await Database.open(path, CONTENT);
    expect({ ...again.first("select * from counts") }).to.deep.equal({
      name: "a",
      value: 3,
      data: new Uint8Array([1, 2]),
    });
    expect(again.first("select * from counts where name = 'b'")).to.equal(undefined);
    again.close();
  });

  it("rows_outliveAKillInTheMiddleOfATransaction", async () => {
    const path = join(folder, "state.db");
    const source = resolve("src/base/database/database.ts");
    const program = `
      import { Database } from ${JSON.stringify(source)};
      const database = await Database.open(${JSON.stringify(path)}, ${JSON.stringify(CONTENT)});
      database.run("insert into counts values ('done', 1, null)");
      database.run("begin immediate");
      database.run("insert into counts values ('half', 2, null)");
      process.kill(process.pid, "SIGKILL");`;
    const ended = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
    expect(ended.signal, ended.stderr.toString()).to.equal("SIGKILL");
    const database = await Database.open(path, CONTENT);
    expect(database.all("select name from counts").map(({ name }) => name)).to.deep.equal(["done"]);
    database.close();
  });

  it("anOlderVersion_isBroughtToThisOne_wholeOrNotAtAll", async () => {
    const path = join(folder, "state.db");
    const first = await Database.open(path, CONTENT);
    first.run("insert into counts values ('a', 3, null)");
    first.close();
    const more = "alter table counts add column more text not null default ''";
    const next: Content = { ...CONTENT, version: 3, upgrades: ["nonsense", more] };
    expect((await rejection(Database.open(path, next))).message).to.contain("cannot be read or written");
    (await Database.open(path, CONTENT)).close();
    const upgraded = await Database.open(path, {
      ...next,
      upgrades: ["create index by_value on counts (value)", more],
    });
    expect(upgraded.first("select name, more from counts")).to.include({ name: "a", more: "" });
    upgraded.close();
    const newer = await rejection(Database.open(path, { ...CONTENT, version: 2, upgrades: ["never done"] }));
    expect(newer).to.be.instanceOf(DatabaseFileError);
    expect(newer.message).to.contain("in version 3").and.contain("reads 2");
  });

  it("aFullDisk_isSaid_andWhatWasWrittenStays", async () => {
    const path = join(folder, "state.db");
    const source = resolve("src/base/database/database.ts");
    const program = `
      import { Database } from ${JSON.stringify(source)};
      const database = await Database.open(${JSON.stringify(path)}, ${JSON.stringify(CONTENT)});
      database.run("insert into counts values ('done', 1, null)");
      try {
        database.run("insert into counts values ('large', 2, ?)", new Uint8Array(2 ** 20));
      } catch (error) {
        console.log(error.code);
      }
      database.run("insert into counts values ('small', 3, null)");
      database.close();`;
    // A limit on the size of files is met as a disk that is full.
    const command = 'ulimit -f 128; exec "$0" --input-type=module -e "$1"';
    const ended = spawnSync("bash", ["-c", command, process.execPath, program]);
    expect(ended.stdout.toString().trim(), ended.stderr.toString()).to.equal("DATABASE_ACCESS");
    const database = await Database.open(path, CONTENT);
    expect(database.all("select name from counts").map(({ name }) => name)).to.deep.equal(["done", "small"]);
    database.close();
  });

  it("aFileThatIsOpen_isRefused_andFreeOnceClosed", async () => {
    const path = join(folder, "state.db");
    const first = await Database.open(path, CONTENT);
    const error = await rejection(Database.open(path, CONTENT));
    expect(error).to.be.instanceOf(DatabaseInUseError);
    expect(error.message).to.contain(path);
    first.close();
    (await Database.open(path, CONTENT)).close();
  });

  it("otherFiles_areRefused_andLeftAsTheyAre", async () => {
    const text = join(folder, "text");
    writeFileSync(text, "a file of quite another kind, longer than a header of a database has bytes: ".repeat(20));
    expect(await rejection(Database.open(text, CONTENT))).to.be.instanceOf(DatabaseFileError);
    const path = join(folder, "state.db");
    (await Database.open(path, CONTENT)).close();
    for (const other of [
      { ...CONTENT, applicationId: 78 },
      { ...CONTENT, version: 2 },
    ])
      expect(await rejection(Database.open(path, other))).to.be.instanceOf(DatabaseFileError);
    const missing = await rejection(Database.open(join(folder, "no", "state.db"), CONTENT));
    expect(missing).to.be.instanceOf(DatabaseAccessError);
  });
});
