import type { Plan } from '../configuration/plan.ts';
import { type Expression, importsOf, layOut, python } from '../python/expression.ts';
import { dialsOut } from './bot-calls.ts';
import { extraArguments } from './bot-run.ts';
import { parametersOf } from './bot-transports.ts';
import { type Code, code, join } from './code.ts';

/** `bot`: what the runner and the hosting service call, once for each session. */
export function entry(plan: Plan): Code {
  const head = code([
    'async def bot(runner_args: RunnerArguments) -> None:',
    '    """Start one session; the runner and the hosting service call this."""',
  ]);
  const way = throughOwnRoom(plan) ? ownRoom(plan) : plainWay(plan);
  return join([head, way], 0);
}

function throughOwnRoom(plan: Plan): boolean {
  return dialsOut(plan) || plan.has('bridged-dial-in');
}

/** Every way in is the runner's to open. */
function plainWay(plan: Plan): Code {
  return join([givenTransport('    '), runs(plan, '    ')], 0);
}

/** The call needs a room of its own, made for it; without a call in the body, the way in is the runner's. */
function ownRoom(plan: Plan): Code {
  const made = dialsOut(plan)
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
  const make = dialsOut(plan)
    ? plan.has('room-dial-out')
      ? 'configure(http, sip_caller_phone=callee.phone_number, enable_dialout=True)'
      : 'configure(http, sip_caller_phone=callee.sip_uri, enable_dialout=True)'
    : 'configure(http, sip_caller_phone=held.from_number)';
  return join(
    [
      code(
        [
          '    body = runner_args.body if isinstance(runner_args.body, dict) else {}',
          ...made.lines,
          '        async with aiohttp.ClientSession() as http:',
          `            room = await ${make}`,
        ],
        ['aiohttp'],
        ['pipecat.runner.daily', 'configure'],
      ),
      { lines: layOut(room, 8, 'transport: BaseTransport = '), imports: importsOf(room) },
      ...(others
        ? [code(['    else:']), givenTransport('        ')]
        : [code(['    else:', `        raise ValueError("the body of the start request has no ${made.key}")`])]),
      runs(plan, '    '),
    ],
    0,
  );
}

function givenTransport(space: string): Code {
  return code(
    [`${space}transport = await create_transport(runner_args, transport_params)`],
    ['pipecat.runner.utils', 'create_transport'],
  );
}

function runs(plan: Plan, space: string): Code {
  const names = ['transport', 'runner_args', ...extraArguments(plan).map(([name]) => name)];
  const line = `await run_bot(${names.join(', ')})`;
  if (!plan.needsSession) return code([`${space}${line}`]);
  return code([`${space}async with aiohttp.ClientSession() as session:`, `${space}    ${line}`], ['aiohttp']);
}
