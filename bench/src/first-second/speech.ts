import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { minimalEnvironment } from '../program.ts';
import { speechSynthesisProgramPath } from '../repository.ts';

/** Returns synthesized speech as 16-bit samples at 8000 Hz. */
export async function synthesizeSpeech(interpreter: string, text: string): Promise<Buffer> {
  const { stdout } = await promisify(execFile)(interpreter, [speechSynthesisProgramPath, text], {
    env: minimalEnvironment,
  });
  const encoded = Buffer.from(stdout, 'base64');
  const samples = Buffer.alloc(encoded.length * 2);
  for (const [index, byte] of encoded.entries()) samples.writeInt16LE(decodeMuLaw(byte), index * 2);
  return samples;
}

/** Decodes a byte of mu-law to a 16-bit sample (ITU-T G.711). */
function decodeMuLaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4);
  return bits & 0x80 ? 0x84 - magnitude : magnitude - 0x84;
}
