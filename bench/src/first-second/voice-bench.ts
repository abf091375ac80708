import type { BenchmarkedService } from '../benchmarked-service.ts';
import type { BenchmarkOptions } from '../figure.ts';
import type { StandaloneBot, StandaloneBotOptions } from './by-hand.ts';
import type { WebCaller } from './web-caller.ts';

/**
 * Names of two agents with the same generated bot. Instances of the agent `forked` are forked from a process that has already
 * imported the bot; each instance of `spawned` is a new Python process.
 */
export const [forked, spawned] = ['forked', 'spawned'] as const;

/**
 * The inputs of all measurements of the first-second benchmark, such as the service and the same bot started without the service.
 */
export type VoiceBenchContext = Pick<BenchmarkOptions, 'log' | 'report'> & {
  readonly service: BenchmarkedService;
  /** Number of measurements from which each result is computed, for example as a median. */
  readonly runs: number;
  readonly byHand: StandaloneBot;
  readonly byHandOptions: StandaloneBotOptions;
  readonly webCaller: WebCaller;
};
