/** Runs the stand-in vendors of the tests. `tsconfig.stand-in-vendors.json` compiles them for the benchmarks. */
const file = new URL('../stand-in-vendors/stand-in-vendors.js', import.meta.url);
const { openStandIns }: { openStandIns: () => Promise<{ readonly address: string }> } = await import(file.href);
const { address } = await openStandIns();
process.stdout.write(`${new URL(`http://${address}`).port}\n`);
