import { expect } from "chai";
import { refute } from "./refute.ts";

describe("refute --help --json", () => {
  it("hasTheHelpOfEveryCommand_inOneDocument", async () => {
    const { status, stdout } = await refute(["--help", "--json"]);
    expect(status).to.equal(0);
    const { commands } = JSON.parse(stdout) as { commands: { command: string; group: string; help: string }[] };
    expect(commands.map(({ command }) => command)).to.include.members([
      "check",
      "model",
      "tdx bring",
      "help completion",
    ]);
    const serve = commands.find(({ command }) => command === "tickets serve");
    expect(serve).to.have.property("group", "Extras");
    expect(serve!.help).to.match(/^Usage: refute tickets serve .*--one-in <n>.*Examples:\n/s);
  });

  it("ofACommand_hasItsHelp_withAllFlags", async () => {
    for (const args of [
      ["submit", "--help"],
      ["help", "submit"],
    ]) {
      const { status, stdout } = await refute([...args, "--json"]);
      expect(status).to.equal(0);
      const { commands } = JSON.parse(stdout) as { commands: { command: string; help: string }[] };
      expect(commands.map(({ command }) => command)).to.deep.equal(["submit"]);
      expect(commands[0]!.help).to.include("--optimiser").and.not.include("--all");
    }
    const { commands } = JSON.parse((await refute(["job", "--help", "--json"])).stdout) as { commands: object[] };
    expect(commands.length).to.be.greaterThan(5);
  });

  it("rareFlags_areShownWithAllOnly_andWhatIsLeftOutIsNamed", async () => {
    const short = (await refute(["help", "submit"])).output;
    const long = (await refute(["submit", "--help", "--all"])).output;
    for (const flag of ["--input", "--fee", "--wait", "--rpc-url", "--output", "--shape"])
      expect(short).to.match(new RegExp(`^  ${flag} `, "m"));
    for (const flag of ["--optimiser", "--carry", "--reserved-for", "--reference", "--top-k", "--compile-mib"]) {
      expect(long).to.match(new RegExp(`^  ${flag} `, "m"));
      expect(short).not.to.match(new RegExp(`^  ${flag} `, "m"));
    }
    expect(short).to.match(/\d+ more flags: refute submit --help --all\n\(.*training.*\)/);
    expect((await refute(["help", "model", "train"])).output).to.include("--optimiser");
    expect((await refute(["help", "completion", "bash"])).output).to.include("--optimiser");
  });
});
