import { GLYPH_HEIGHT, GLYPH_WIDTH, isInked } from "./font.ts";

/** A picture: height x width x 3 bytes, row by row, top left first. */
export type Picture = { width: number; height: number; pixels: Uint8Array };

const PAPER = 242;
const INK = 28;

/**
 * Draws one line of text, centred, dark on light, with soft edges like a camera's (each pixel shows the mean ink over
 * `scale / dot`).
 * @param dot Pixels across one font dot; fractions are allowed.
 */
export function drawText(text: string, width: number, height: number, dot: number): Picture {
  const pixels = new Uint8Array(width * height * 3);
  const left = (width - (text.length * (GLYPH_WIDTH + 1) - 1) * dot) / 2;
  const top = (height - GLYPH_HEIGHT * dot) / 2;
  const inked = (x: number, y: number): boolean => {
    const column = Math.floor((x - left) / dot);
    const letter = text[Math.floor(column / (GLYPH_WIDTH + 1))] ?? " ";
    return isInked(letter, column % (GLYPH_WIDTH + 1), Math.floor((y - top) / dot));
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let ink = 0;
      for (const dy of SAMPLES) for (const dx of SAMPLES) ink += inked(x + dx, y + dy) ? 1 : 0;
      const shade = Math.round(PAPER + ((INK - PAPER) * ink) / SAMPLES.length ** 2);
      pixels.fill(shade, (y * width + x) * 3, (y * width + x) * 3 + 3);
    }
  }
  return { width, height, pixels };
}

/** Where in a pixel its ink is sampled. */
const SAMPLES = [0.125, 0.375, 0.625, 0.875];

/** The picture turned by 180 degrees. */
export function turned({ width, height, pixels }: Picture): Picture {
  const out = new Uint8Array(pixels.length);
  for (let k = 0; k < width * height; k++) {
    out.set(pixels.subarray(k * 3, k * 3 + 3), (width * height - 1 - k) * 3);
  }
  return { width, height, pixels: out };
}

/** Returns the picture as lines for a terminal: two pixel rows per line, `columns` wide. */
export function preview({ width, height, pixels }: Picture, columns: number): string[] {
  const cell = width / columns;
  const dark = (cx: number, cy: number): boolean =>
    pixels[(Math.min(height - 1, Math.floor((cy + 0.5) * cell)) * width + Math.floor((cx + 0.5) * cell)) * 3]! < 128;
  const rows = Math.floor(height / cell / 2);
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, x) => {
      const upper = dark(x, row * 2);
      const lower = dark(x, row * 2 + 1);
      return upper ? (lower ? "█" : "▀") : lower ? "▄" : " ";
    }).join(""),
  );
}
