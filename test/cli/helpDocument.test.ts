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
});
