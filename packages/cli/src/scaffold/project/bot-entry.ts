import type { ProjectPlan } from '../configuration/plan.ts';
import {
  collectImports,
  createPythonExpression,
  formatExpression,
  type PythonExpression,
} from '../python/expression.ts';
import { dialsOut } from './bot-calls.ts';
import { listExtraRunBotParameters } from './bot-run.ts';
import { createTransportParametersExpression } from './bot-transports.ts';
import { createPythonCode, joinPythonCode, type PythonCode } from './code.ts';

/** Generates `bot`, the function that the runner and the hosting service call for each session. */
export function generateEntryPoint(plan: ProjectPlan): PythonCode {
  const head = createPythonCode([
    'async def bot(runner_args: RunnerArguments) -> None:',
    '    """Run one session. The runner on your machine and the hosting service call this function."""',
  ]);
  const body = createsRoom(plan) ? ownRoom(plan) : fromRunner(plan);
  return joinPythonCode([head, body], 0);
}

function createsRoom(plan: ProjectPlan): boolean {
  return dialsOut(plan) || plan.has('bridged-dial-in');
}

function fromRunner(plan: ProjectPlan): PythonCode {
  return joinPythonCode([runnerTransport('    '), runs(plan, '    ')], 0);
}

/**
 * Generates code that creates a Daily room if the start request asks the bot to make or accept a phone call through a room. For
 * any other request, the code lets the runner create the transport, or raises an error if the bot has no transport that the
 * runner can create.
 */
function ownRoom(plan: ProjectPlan): PythonCode {
  const request = dialsOut(plan)
    ? {
        key: 'dialout_settings',
        lines: [
          '    dialout = body.get("dialout_settings")',
          '    callee = DialOut.model_validate(dialout) if dialout else None',
          '    if callee is not None:',
        ],
      }
    : {
        key: 'call_sid',
        lines: ['    held = HeldCall.model_validate(body) if "call_sid" in body else None', '    if held is not None:'],
      };
  const others = plan.transports.some((transport) => transport.key !== null) || plan.configuration.enable_eval;
  const transport = plan.transports.find((one) => one.key === null);
  const parameters =
    transport === undefined
      ? createPythonExpression('DailyParams()')
      : createTransportParametersExpression(transport, plan.configuration);
  const room: PythonExpression = {
    kind: 'call',
    callee: 'DailyTransport',
    arguments: [
      { value: createPythonExpression('room.room_url') },
      { value: createPythonExpression('room.token') },
      { value: createPythonExpression('BOT_NAME') },
      { name: 'params', value: parameters },
    ],
    imports: [{ module: 'pipecat.transports.daily.transport', name: 'DailyTransport' }],
    variables: [],
  };
  const configureRoom = dialsOut(plan)
    ? plan.has('room-dial-out')
      ? 'configure(http, sip_caller_phone=callee.phone_number, enable_dialout=True)'
      : 'configure(http, sip_caller_phone=callee.sip_uri, enable_dialout=True)'
    : 'configure(http, sip_caller_phone=held.from_number)';
  return joinPythonCode(
    [
      createPythonCode(
        [
          '    body = runner_args.body if isinstance(runner_args.body, dict) else {}',
          ...request.lines,
          '        async with aiohttp.ClientSession() as http:',
          `            room = await ${configureRoom}`,
        ],
        ['aiohttp'],
        ['pipecat.runner.daily', 'configure'],
      ),
      { lines: formatExpression(room, 8, 'transport: BaseTransport = '), imports: collectImports(room) },
      ...(others
        ? [createPythonCode(['    else:']), runnerTransport('        ')]
        : [
            createPythonCode([
              '    else:',
              `        raise ValueError("the body of the start request has no ${request.key}")`,
            ]),
          ]),
      runs(plan, '    '),
    ],
    0,
  );
}

function runnerTransport(space: string): PythonCode {
  return createPythonCode(
    [
      `${space}# Open the transport that the client of this session has chosen.`,
      `${space}transport = await create_transport(runner_args, transport_params)`,
    ],
    ['pipecat.runner.utils', 'create_transport'],
  );
}

function runs(plan: ProjectPlan, space: string): PythonCode {
  const names = ['transport', 'runner_args', ...listExtraRunBotParameters(plan).map(([name]) => name)];
  const line = `await run_bot(${names.join(', ')})`;
  if (!plan.needsSession) return createPythonCode([`${space}${line}`]);
  return createPythonCode(
    [`${space}async with aiohttp.ClientSession() as session:`, `${space}    ${line}`],
    ['aiohttp'],
  );
}
