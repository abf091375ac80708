import { Worker } from 'node:worker_threads';

/** A CPU and memory load of known size. Tests use it to check the service's CPU and memory measurements. */
export type CpuMemoryLoadSettings = {
  /** CPU of the whole process, in thousandths of a core. */
  readonly cpuMillicores: number;
  /**
   * Memory in units of 10^6 bytes, in addition to what the process already uses. The load writes to all of it, so that the kernel
   * counts it.
   */
  readonly megabytes: number;
  readonly seconds: number;
};

/**
 * Uses CPU and memory in worker threads until the time is over or the signal aborts, while the bot keeps responding. The
 * threads measure the CPU time of the process and compensate for deviations, so that other load on the machine does not change
 * the CPU time that is used. With too few cores, the load takes longer.
 *
 * @returns the CPU time that the process used, in milliseconds
 */
export async function generateLoad(load: CpuMemoryLoadSettings, signal: AbortSignal): Promise<number> {
  const before = process.cpuUsage();
  const threads = Math.max(1, Math.ceil(load.cpuMillicores / 1000));
  await Promise.all(
    Array.from({ length: threads }, (_, index) =>
      runWorker({ ...load, megabytes: index === 0 ? load.megabytes : 0 }, signal),
    ),
  );
  const used = process.cpuUsage(before);
  return Math.round((used.user + used.system) / 1000);
}

function runWorker(load: CpuMemoryLoadSettings, signal: AbortSignal): Promise<void> {
  // The source of the worker is text, because the bot ships as one file.
  const worker = new Worker(`(${burnInThread})(${JSON.stringify(load)})`, { eval: true });
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => resolve());
  }).finally(() => signal.removeEventListener('abort', stop));
}

/** The worker thread runs the source text of this function, so the function must not refer to anything outside itself. */
function burnInThread({ cpuMillicores, megabytes, seconds }: CpuMemoryLoadSettings): void {
  const bytesPerMegabyte = 1_000_000;
  const held = new Uint8Array(megabytes * bytesPerMegabyte).fill(1);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const begin = performance.now();
  const cpuBegin = process.cpuUsage();
  const cpuMs = () => {
    const used = process.cpuUsage(cpuBegin);
    return (used.user + used.system) / 1000;
  };
  const owedMs = (elapsed: number) => (elapsed * cpuMillicores) / 1000;
  for (
    let elapsed = 0;
    elapsed < seconds * 1000 || cpuMs() < owedMs(seconds * 1000);
    elapsed = performance.now() - begin
  ) {
    if (cpuMs() >= owedMs(elapsed)) Atomics.wait(sleeper, 0, 0, 5);
  }
  held[0] = 0;
}
