import type { Plan } from '../configuration/plan.ts';
import { type Expression, importsOf, layOut, python } from '../python/expression.ts';
import { dialsOut } from './bot-calls.ts';
import { extraArguments } from './bot-run.ts';
import { parametersOf } from './bot-transports.ts';
import { type Code, code, join } from './code.ts';

/** `bot`: the function that the runner and the hosting service call for each session. */
export function entry(plan: Plan): Code {
  const head = code([
    'async def bot(runner_args: RunnerArguments) -> None:',
    '    """Run one session. The runner on your machine and the hosting service call this function."""',
  ]);
  const body = createsRoom(plan) ? ownRoom(plan) : fromRunner(plan);
  return join([head, body], 0);
}

function createsRoom(plan: Plan): boolean {
  return dialsOut(plan) || plan.has('bridged-dial-in');
}

/** The transport comes from the runner. */
function fromRunner(plan: Plan): Code {
  return join([runnerTransport('    '), runs(plan, '    ')], 0);
}

/** Creates a room for the call in the request's body. Without a call, the transport comes from the runner. */
function ownRoom(plan: Plan): Code {
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
  const parameters = transport === undefined ? python('DailyParams()') : parametersOf(transport, plan.configuration);
  const room: Expression = {
    kind: 'call',
    callee: 'DailyTransport',
    arguments: [
      { value: python('room.room_url') },
      { value: python('room.token') },
      { value: python('BOT_NAME') },
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
  return join(
    [
      code(
        [
          '    body = runner_args.body if isinstance(runner_args.body, dict) else {}',
          ...request.lines,
          '        async with aiohttp.ClientSession() as http:',
          `            room = await ${configureRoom}`,
        ],
        ['aiohttp'],
        ['pipecat.runner.daily', 'configure'],
      ),
      { lines: layOut(room, 8, 'transport: BaseTransport = '), imports: importsOf(room) },
      ...(others
        ? [code(['    else:']), runnerTransport('        ')]
        : [code(['    else:', `        raise ValueError("the body of the start request has no ${request.key}")`])]),
      runs(plan, '    '),
    ],
    0,
  );
}

function runnerTransport(space: string): Code {
  return code(
    [
      `${space}# Open the transport that the client of this session has chosen.`,
      `${space}transport = await create_transport(runner_args, transport_params)`,
    ],
    ['pipecat.runner.utils', 'create_transport'],
  );
}

function runs(plan: Plan, space: string): Code {
  const names = ['transport', 'runner_args', ...extraArguments(plan).map(([name]) => name)];
  const line = `await run_bot(${names.join(', ')})`;
  if (!plan.needsSession) return code([`${space}${line}`]);
  return code([`${space}async with aiohttp.ClientSession() as session:`, `${space}    ${line}`], ['aiohttp']);
}
