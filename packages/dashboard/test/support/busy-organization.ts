import { join } from 'node:path';
import type { BuiltService } from '../../../../test/built-service.ts';
import { openDirectDatabaseConnection } from '../../../server/test/crash/direct-database-connection.ts';

/** Agents in the order of their share of the sessions, the busiest first. */
const agents = [
  ...['support-line', 'booking', 'triage', 'order-status', 'sales-callback', 'survey', 'pharmacy', 'front-desk'],
  ...['delivery', 'billing', 'outbound-reminder', 'insurance', 'interview', 'language-tutor', 'hotel-concierge'],
  ...['museum-guide', 'fleet', 'it-helpdesk', 'night-shift', 'prototype'],
];

const authors = ['maria@example.com', 'jonas@example.com', 'lena@example.com'];

/**
 * Fills an organization without agents with rows of a week: 20 agents with about 70 deployments, of which three are
 * bad (`triage` has raised KeyError for two days, `booking` has responded slowly for a day, the last deploy of `pharmacy` failed); an
 * outage of a vendor of speech synthesis (28 to 30 hours ago, ConnectionClosedError) and one of a vendor of models (the last 40
 * minutes, APITimeoutError); bots of `fleet` that crash and of `interview` that run out of memory; and `support-line` at its limit
 * of 12 sessions. No server runs the region of the agents, so the rows stay as they are. The same `seed` gives the same figures.
 */
export async function fillBusyOrganization(
  { folder }: Pick<BuiltService, 'folder'>,
  organization: string,
  sessionCount: number,
  seed = 0.36,
): Promise<void> {
  const database = openDirectDatabaseConnection(join(folder, 'data'));
  await database.rows('begin');
  await database.rows('select setseed($1)', [seed]);
  await database.rows(
    `insert into hosts (id, region, runtime, description, heartbeat_at)
     select gen_random_uuid(), 'eu-central', 'process', 'a host without a server', now()`,
  );
  await database.rows(
    `insert into agents (id, organization_id, name, region, created_at, updated_at)
     select gen_random_uuid(), organizations.id, agent_name, 'eu-central', now() - interval '60 days', now()
     from organizations, unnest($1::text[]) as agent_name where organizations.name = $2`,
    [agents, organization],
  );
  await database.rows(
    `insert into deployments (id, agent_id, source, state, state_at, error, error_code, error_at, activated_at, replaced_at,
       min_agents, max_agents, profile, max_session_seconds, websocket_auth, fork, prepared, created_by, created_at,
       updated_at)
     select gen_random_uuid(), id,
       jsonb_build_object('kind', 'directory', 'path', '/bots/' || name, 'contentHash', md5(name || number)),
       case when is_failed then 'failed' else 'ready' end, created, case when is_failed then
         'The first instance exited with status 1: ModuleNotFoundError: No module named ''pipecat.services.acme''.' end,
       case when is_failed then 'PCC_BOT_EXITED' end, case when is_failed then created end,
       case when not is_failed then created end, case when not is_failed then replaced end, 0,
       case name when 'support-line' then 12 when 'booking' then 20 else 8 end, 'agent-1x', 3600, 'token', true, '{}',
       ($2::text[])[1 + (position + number) % 3], created, created
     from (
       select id, name, number, position, name = 'pharmacy' and number = 1 as is_failed,
         case when name = 'triage' and number = 1 then now() - interval '2 days'
           when name = 'booking' and number = 1 then now() - interval '1 day'
           when name = 'pharmacy' and number = 1 then now() - interval '25 minutes'
           else now() - (number - 0.7) * interval '50 hours' - position * interval '97 minutes' end as created
       from unnest($1::text[]) with ordinality as named (name, position) join agents using (name),
         generate_series(1, 3 + position::int % 2) as number
       where region = 'eu-central'
     ) planned cross join lateral (
       select case when number = 1 or (number = 2 and name = 'pharmacy') then null when number = 2 and name = 'triage'
         then now() - interval '2 days' when number = 2 and name = 'booking' then now() - interval '1 day'
         else created + interval '50 hours' end as replaced
     ) ends`,
    [agents, authors],
  );
  await database.rows(
    `update agents set
       active_deployment_id = (select id from deployments where agent_id = agents.id and activated_at is not null
         order by activated_at desc limit 1),
       desired_deployment_id = (select id from deployments where agent_id = agents.id order by created_at desc limit 1)
     where region = 'eu-central'`,
  );
  await insertEndedSessions(database.rows, sessionCount);
  await insertLiveSessions(database.rows);
  await database.rows('commit');
  await database.rows('analyze');
  await database.close();
}

type Run = ReturnType<typeof openDirectDatabaseConnection>['rows'];

async function insertEndedSessions(run: Run, count: number): Promise<void> {
  await run(
    `create temporary table planned on commit drop as
     select gen_random_uuid() as id, agents.organization_id, agents.id as agent_id, deployment.id as deployment_id,
       agents.name, at, deployment.activated_at, random() as luck, random() as kind,
       random() < 0.12 as cold, exp(5.2 + 0.5 * noise) as start_ms, exp(6.8 + 0.35 * noise2) as response_ms,
       20 + 400 * random() ^ 2 as seconds,
       case when at between now() - interval '30 hours' and now() - interval '28 hours' then 'ConnectionClosedError'
         when at > now() - interval '40 minutes' then 'APITimeoutError' end as outage
     from (
       select now() - interval '7 days' * random() - interval '2 minutes' as at, 1 + floor(20 * random() ^ 2.2)::int as agent,
         random() + random() + random() + random() - 2 as noise, random() + random() + random() + random() - 2 as noise2,
         random() as hour
       from generate_series(1, $2::int)
     ) drawn join agents on agents.name = ($1::text[])[agent]
       join lateral (
         select id, activated_at from deployments where agent_id = agents.id and activated_at <= at
         order by activated_at desc limit 1
       ) deployment on true
     where agents.region = 'eu-central' and (agents.name <> 'support-line' or at < now() - interval '20 minutes') and hour < 0.35 + 0.65 * sin(pi() * extract(hour from at) / 24) ^ 2`,
    // About a third of the drawn times are left out, those at night.
    [agents, Math.ceil(count * 1.48)],
  );
  await run(
    `insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, conversation_level, created_at,
       updated_at, requested_at, claimed_at, ready_at, dispatched_at, bot_started_at, cold_start, completion_status, ended_at,
       events)
     select id, organization_id, agent_id, deployment_id, 'ended', 'webrtc', 'timings', at, ended, at, at,
       ready, ready, ready, cold, status, ended, events
     from planned cross join lateral (
       select at + make_interval(secs => (start_ms * case when cold then 14 else 1 end) / 1000) as ready,
         at + make_interval(secs => seconds) + interval '8 seconds' as ended,
         case
           when name = 'triage' and activated_at >= now() - interval '2 days' and luck < 0.55 then 'KeyError'
           when outage is not null and luck < 0.5 then outage
           when name = 'fleet' and luck < 0.2 then 'signal'
           when name = 'interview' and luck < 0.15 then 'memory'
           when luck < 0.006 then 'signal' when luck < 0.01 then 'ValueError' else 'none' end as problem
     ) outcome cross join lateral (
       select case when problem in ('signal', 'memory') then 'HTTP_ERROR' when problem <> 'none' then '500'
           when kind < 0.8 then 'HTTP_COMPLETED' when kind < 0.96 then 'WS_CONNECTION_CLOSED' else 'SESSION_STOPPED' end as status,
         case when problem = 'none' then '[]'::jsonb when problem in ('signal', 'memory') then
           jsonb_build_array(jsonb_build_object('code', 'INSTANCE_EXITED', 'at', ended, 'detail', jsonb_build_object('code', null,
             'signal', 'SIGSEGV', 'outOfMemory', problem = 'memory', 'tail', 'loading the voice activity model')))
         else jsonb_build_array(jsonb_build_object('code', 'BOT_FAILED', 'at', ended, 'detail', jsonb_build_object('status', 500,
           'exceptionType', problem, 'exceptionMessage', null, 'tail', ''))) end as events
     ) ends`,
  );
  await run(
    `insert into session_conversations (session_id, host_id, state, numbers, response_p50_ms, response_p95_ms, interruptions,
       errors, created_at, ended_at)
     select id, (select id from hosts where region = 'eu-central'), 'complete', jsonb_build_object('turns', 1 + (seconds / 20)::int,
         'interruptions', 0, 'responses', jsonb_build_object('silence', null, 'release', null), 'greetingMs', null,
         'tools', jsonb_build_object('calls', 0, 'failed', 0), 'errors', 0, 'usage', '[]'::jsonb, 'endReason', null,
         'droppedLines', 0),
       ms, ms * 2.1, (kind * 4)::int, case when outage is not null and luck < 0.7 then 1 + (kind * 3)::int else 0 end,
       at, at
     from planned cross join lateral (
       select (response_ms * case when name = 'booking' and activated_at >= now() - interval '1 day' then 2.6
         when outage is not null then 1.7 else 1 end)::int as ms
     ) responses where luck > 0.05 or name = 'interview'`,
  );
}

/** Inserts 12 open sessions of `support-line`, which is its limit, and 3 of `booking`. */
async function insertLiveSessions(run: Run): Promise<void> {
  await run(
    `with opened as (
       insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, conversation_level, created_at,
         updated_at, requested_at, claimed_at, ready_at, dispatched_at, bot_started_at, cold_start, events)
       select gen_random_uuid(), organization_id, id, active_deployment_id, 'live', 'webrtc', 'timings', at, at, at, at, at, at,
         at + interval '240 ms', false, '[]'
       from agents, generate_series(1, case name when 'support-line' then 12 else 3 end) as number,
         lateral (select now() - number * interval '37 seconds' as at) as times
       where name in ('support-line', 'booking') and region = 'eu-central'
       returning id, agent_id, deployment_id, created_at
     )
     insert into instances (id, deployment_id, agent_id, host_id, session_id, state, host, port, created_at, ready_at)
     select gen_random_uuid(), deployment_id, agent_id, (select id from hosts where region = 'eu-central'), id, 'ready',
       '127.0.0.1', 1, created_at, created_at
     from opened`,
  );
}
