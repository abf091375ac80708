/** Runs the stand-in vendors of the tests, which `tsconfig.stand-in-vendors.json` compiles for benches. */
const file = new URL('../stand-in-vendors/stand-in-vendors.js', import.meta.url);
const { openStandIns }: { openStandIns: () => Promise<{ readonly address: string }> } = await import(file.href);
const { address } = await openStandIns();
process.stdout.write(`${new URL(`http://${address}`).port}\n`);
