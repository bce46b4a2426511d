import { Command } from "commander";
import type { Hex } from "viem";
import { openPanel, openPanelReader } from "../../../parties/requester/panel.ts";
import { panelState } from "../../../parties/requester/panelState.ts";
import { accountSettings, readerFrom, sessionFrom } from "../../chainSettings.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { answerPanel, followOnTerminal, followSettings, panelSetting } from "./panels.ts";
import { as, jobId, filePath } from "../../parse.ts";
import { loadProgram, readModels } from "../../models.ts";
import { addSettings, optional, readSettings, toggle } from "../../settings.ts";

const settings = {
  ...accountSettings,
  ...panelSetting,
  ...followSettings,
  models: optional<string>(
    "file",
    "JSON array of {path, shapes, uint8}: if seats differ, their question is executed here and the wrong ones disputed",
    filePath,
    "seats that differ are not judged, and not made final",
  ),
  wait: toggle("follow the panel to its end, and make the moves that lead there: anybody may, and this takes a key"),
};

/** `refute panel result`: how far a panel is; with --wait, the moves that end it. */
export function resultCommand(output: Output): Command {
  const command = new Command("result")
    .description("show how far a panel is, or follow it to its end. Only with --wait a key is needed")
    .argument("<panel>", "id of a panel, as refute panel post prints it", as(jobId, "PANEL"))
    .action(async (panelId: Hex, _options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { audit, agreed, models } = values;
      if (values.wait) {
        const session = await sessionFrom(values);
        const panel = await openPanel(session, values.panel);
        const judging =
          models === undefined ? undefined : { programs: readModels(models).map((spec) => loadProgram(spec, output)) };
        return followOnTerminal(output, session, panel, panelId, { audit, agreed, isPosted: false }, judging);
      }
      if (audit !== undefined || agreed || models !== undefined)
        throw new UsageError(`--${audit !== undefined ? "audit" : agreed ? "agreed" : "models"} also needs --wait`);
      const reader = await readerFrom(values);
      answerPanel(output, await panelState(reader, await openPanelReader(reader, values.panel), panelId));
    });
  return addExamples(
    addSettings(command, settings),
    "panel result PANEL --panel 0x...",
    "panel result PANEL --panel 0x... --wait",
    "panel result PANEL --panel 0x... --wait --models models.json",
  );
}
