import { describeRuntime } from '../conformance/conformance.ts';
import { containmentKinds, processSetup } from './setup.ts';

const [strongest] = containmentKinds;
describeRuntime(`process driver, containment by ${strongest}`, processSetup(strongest));
