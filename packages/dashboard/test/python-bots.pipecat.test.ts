import { definePythonBotTests } from '../../server/test/python-bots.ts';
import { defineRedactionTest } from './redaction.ts';

// One service for all these tests, because it takes a minute to install Pipecat.
defineRedactionTest(definePythonBotTests());
