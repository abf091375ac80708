import { describeRuntime } from '../conformance/conformance.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

const [strongest] = availableContainmentKinds;
describeRuntime(`process driver, containment by ${strongest}`, createProcessRuntimeSetup(strongest));
