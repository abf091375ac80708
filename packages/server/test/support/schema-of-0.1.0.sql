CREATE FUNCTION public.audit_events_stay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      if tg_op = 'DELETE' and old.at < now() - interval '30 days' then return old; end if;
      raise exception 'audit events are never changed, and not removed before they are 30 days old'
        using errcode = 'restrict_violation';
    end $$;

CREATE TABLE public.agents (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    region text NOT NULL,
    desired_deployment_id uuid,
    active_deployment_id uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    start text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_keys_kind_check CHECK ((kind = ANY (ARRAY['private'::text, 'public'::text])))
);

CREATE TABLE public.audit_events (
    organization_id uuid NOT NULL,
    sequence bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_key_id uuid,
    actor_key_name text,
    address text,
    request_id text,
    action text NOT NULL,
    object text,
    region text,
    keys jsonb NOT NULL,
    revision_before integer,
    revision_after integer,
    result text NOT NULL,
    count integer NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_events_count_check CHECK ((count >= 1)),
    CONSTRAINT audit_events_sequence_check CHECK ((sequence >= 1))
);

CREATE TABLE public.build_log_lines (
    build_id uuid NOT NULL,
    line integer NOT NULL,
    at timestamp with time zone NOT NULL,
    text text NOT NULL
);

CREATE TABLE public.builds (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    region text NOT NULL,
    upload_id uuid NOT NULL,
    content_hash text NOT NULL,
    context_hash text NOT NULL,
    size_bytes bigint NOT NULL,
    dockerfile_path text NOT NULL,
    state text NOT NULL,
    error_code text,
    error text,
    prepared json,
    removing boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    used_at timestamp with time zone NOT NULL,
    cancel_requested_at timestamp with time zone,
    unfinished_attempts integer DEFAULT 0 NOT NULL,
    CONSTRAINT builds_check CHECK (((state = 'success'::text) = (prepared IS NOT NULL))),
    CONSTRAINT builds_completed_check CHECK (((state = ANY (ARRAY['success'::text, 'failed'::text, 'timeout'::text, 'canceled'::text])) = (completed_at IS NOT NULL))),
    CONSTRAINT builds_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'building'::text, 'success'::text, 'failed'::text, 'timeout'::text, 'canceled'::text])))
);

CREATE TABLE public.deployments (
    id uuid NOT NULL,
    agent_id uuid NOT NULL,
    source json NOT NULL,
    state text NOT NULL,
    error text,
    prepared json,
    min_agents integer NOT NULL,
    max_agents integer NOT NULL,
    profile text NOT NULL,
    max_session_seconds integer NOT NULL,
    websocket_auth text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    build_id uuid,
    error_code text,
    error_at timestamp with time zone,
    last_exit json,
    restarts integer DEFAULT 0 NOT NULL,
    secret_pins json DEFAULT '[]'::json NOT NULL,
    created_by_key_id uuid,
    rolled_back_from uuid,
    state_at timestamp with time zone DEFAULT now() NOT NULL,
    activated_at timestamp with time zone,
    replaced_at timestamp with time zone,
    fork boolean DEFAULT true NOT NULL,
    CONSTRAINT deployments_max_agents_check CHECK ((max_agents >= 1)),
    CONSTRAINT deployments_min_agents_check CHECK ((min_agents >= 0)),
    CONSTRAINT deployments_state_check CHECK ((state = ANY (ARRAY['preparing'::text, 'validating'::text, 'ready'::text, 'failed'::text]))),
    CONSTRAINT deployments_websocket_auth_check CHECK ((websocket_auth = ANY (ARRAY['none'::text, 'token'::text])))
);

CREATE TABLE public.hosts (
    id uuid NOT NULL,
    region text NOT NULL,
    runtime text NOT NULL,
    description text NOT NULL,
    heartbeat_at timestamp with time zone NOT NULL
);

CREATE TABLE public.instance_logs (
    instance_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    session_id uuid,
    host_id uuid NOT NULL,
    begins_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    bytes bigint NOT NULL,
    dropped_bytes bigint NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    CONSTRAINT instance_logs_bytes_check CHECK ((bytes >= 0)),
    CONSTRAINT instance_logs_dropped_bytes_check CHECK ((dropped_bytes >= 0))
);

CREATE TABLE public.instances (
    id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    host_id uuid NOT NULL,
    session_id uuid,
    state text NOT NULL,
    host text,
    port integer,
    reports_session boolean DEFAULT false NOT NULL,
    notices jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ready_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT instances_check CHECK (((state = 'ended'::text) = (ended_at IS NOT NULL))),
    CONSTRAINT instances_state_check CHECK ((state = ANY (ARRAY['starting'::text, 'ready'::text, 'stopping'::text, 'ended'::text])))
);

CREATE TABLE public.organizations (
    id uuid NOT NULL,
    name text NOT NULL,
    verbose_name text NOT NULL,
    default_region text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.pull_secret_checks (
    set_id uuid NOT NULL,
    revision integer NOT NULL,
    result text NOT NULL,
    message text NOT NULL,
    image text,
    checked_at timestamp with time zone NOT NULL,
    CONSTRAINT pull_secret_checks_result_check CHECK ((result = ANY (ARRAY['verified'::text, 'rejected'::text, 'unreachable'::text, 'skipped'::text])))
);

CREATE TABLE public.secret_deliveries (
    set_id uuid NOT NULL,
    revision integer NOT NULL,
    region text NOT NULL,
    state text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error text,
    host_id uuid,
    created_at timestamp with time zone NOT NULL,
    next_at timestamp with time zone,
    done_at timestamp with time zone,
    CONSTRAINT secret_deliveries_check CHECK (((state = 'failed'::text) = (error IS NOT NULL))),
    CONSTRAINT secret_deliveries_check1 CHECK (((state = 'pending'::text) = (done_at IS NULL))),
    CONSTRAINT secret_deliveries_check2 CHECK (((state <> 'pending'::text) OR (next_at IS NOT NULL))),
    CONSTRAINT secret_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'ready'::text, 'failed'::text])))
);

CREATE TABLE public.secret_revisions (
    set_id uuid NOT NULL,
    revision integer NOT NULL,
    action text NOT NULL,
    rolled_back_to integer,
    host text,
    entries jsonb NOT NULL,
    added jsonb NOT NULL,
    changed jsonb NOT NULL,
    removed jsonb NOT NULL,
    expires_at timestamp with time zone,
    created_by_key_id uuid,
    created_at timestamp with time zone NOT NULL,
    former_mac bytea,
    mac bytea,
    CONSTRAINT secret_revisions_action_check CHECK ((action = ANY (ARRAY['set'::text, 'replace'::text, 'unset'::text, 'rollback'::text]))),
    CONSTRAINT secret_revisions_revision_check CHECK ((revision >= 1))
);

CREATE TABLE public.secret_sets (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    region text NOT NULL,
    revision integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT secret_sets_kind_check CHECK ((kind = ANY (ARRAY['secret'::text, 'imagePullSecret'::text]))),
    CONSTRAINT secret_sets_revision_check CHECK ((revision >= 0))
);

CREATE TABLE public.secret_values (
    set_id uuid NOT NULL,
    key text NOT NULL,
    revision integer NOT NULL,
    sealed bytea NOT NULL,
    key_version integer NOT NULL,
    fingerprint bytea NOT NULL,
    fingerprint_version integer NOT NULL,
    bytes integer NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.session_metrics (
    session_id uuid NOT NULL,
    id uuid NOT NULL,
    sample_count integer NOT NULL,
    cpu_p50 integer NOT NULL,
    cpu_p90 integer NOT NULL,
    cpu_p95 integer NOT NULL,
    cpu_p99 integer NOT NULL,
    memory_p50 bigint NOT NULL,
    memory_p90 bigint NOT NULL,
    memory_p95 bigint NOT NULL,
    memory_p99 bigint NOT NULL,
    timeseries json NOT NULL,
    event_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.session_samples (
    session_id uuid NOT NULL,
    first_at timestamp with time zone NOT NULL,
    samples json NOT NULL
);

CREATE TABLE public.sessions (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    state text NOT NULL,
    transport text NOT NULL,
    body text,
    relay_id uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    requested_at timestamp with time zone,
    claimed_at timestamp with time zone,
    ready_at timestamp with time zone,
    handed_over_at timestamp with time zone,
    bot_started_at timestamp with time zone,
    cold_start boolean,
    ending_status text,
    completion_status text,
    ended_at timestamp with time zone,
    events jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT sessions_check CHECK (((state = 'ended'::text) = (ended_at IS NOT NULL))),
    CONSTRAINT sessions_check1 CHECK (((state = 'ended'::text) = (completion_status IS NOT NULL))),
    CONSTRAINT sessions_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'starting'::text, 'live'::text, 'ending'::text, 'ended'::text]))),
    CONSTRAINT sessions_transport_check CHECK ((transport = ANY (ARRAY['none'::text, 'webrtc'::text, 'websocket'::text])))
);

CREATE TABLE public.uploads (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    region text NOT NULL,
    announced boolean NOT NULL,
    state text NOT NULL,
    content_hash text,
    context_hash text,
    size_bytes bigint,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT uploads_check CHECK (((NOT announced) OR ((content_hash IS NOT NULL) AND (size_bytes IS NOT NULL)))),
    CONSTRAINT uploads_check1 CHECK (((state = 'open'::text) OR ((content_hash IS NOT NULL) AND (context_hash IS NOT NULL) AND (size_bytes IS NOT NULL)))),
    CONSTRAINT uploads_state_check CHECK ((state = ANY (ARRAY['open'::text, 'complete'::text])))
);

CREATE TABLE public.vault_keys (
    organization_id uuid NOT NULL,
    purpose text NOT NULL,
    version integer NOT NULL,
    root_key_id text NOT NULL,
    wrapped bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT vault_keys_purpose_check CHECK ((purpose = ANY (ARRAY['value'::text, 'fingerprint'::text, 'stamp'::text]))),
    CONSTRAINT vault_keys_version_check CHECK ((version >= 1))
);

CREATE TABLE public.vault_state (
    one boolean DEFAULT true NOT NULL,
    root_key_id text NOT NULL,
    canary bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT vault_state_one_check CHECK (one)
);

CREATE TABLE public.vault_tasks (
    id uuid NOT NULL,
    task text NOT NULL,
    organization_id uuid,
    state text NOT NULL,
    done integer NOT NULL,
    total integer NOT NULL,
    findings jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT vault_tasks_check CHECK (((state = 'done'::text) = (ended_at IS NOT NULL))),
    CONSTRAINT vault_tasks_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text]))),
    CONSTRAINT vault_tasks_task_check CHECK ((task = ANY (ARRAY['rekey'::text, 'rotate'::text, 'verify'::text])))
);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (organization_id, sequence);

ALTER TABLE ONLY public.build_log_lines
    ADD CONSTRAINT build_log_lines_pkey PRIMARY KEY (build_id, line);

ALTER TABLE ONLY public.builds
    ADD CONSTRAINT builds_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments
    ADD CONSTRAINT deployments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_region_key UNIQUE (region);

ALTER TABLE ONLY public.instance_logs
    ADD CONSTRAINT instance_logs_pkey PRIMARY KEY (instance_id);

ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_session_id_key UNIQUE (session_id);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_name_key UNIQUE (name);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.pull_secret_checks
    ADD CONSTRAINT pull_secret_checks_pkey PRIMARY KEY (set_id, revision);

ALTER TABLE ONLY public.secret_deliveries
    ADD CONSTRAINT secret_deliveries_pkey PRIMARY KEY (set_id, revision);

ALTER TABLE ONLY public.secret_revisions
    ADD CONSTRAINT secret_revisions_pkey PRIMARY KEY (set_id, revision);

ALTER TABLE ONLY public.secret_sets
    ADD CONSTRAINT secret_sets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.secret_values
    ADD CONSTRAINT secret_values_pkey PRIMARY KEY (set_id, key, revision);

ALTER TABLE ONLY public.session_metrics
    ADD CONSTRAINT session_metrics_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY public.session_samples
    ADD CONSTRAINT session_samples_pkey PRIMARY KEY (session_id, first_at);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.vault_keys
    ADD CONSTRAINT vault_keys_pkey PRIMARY KEY (organization_id, purpose, version);

ALTER TABLE ONLY public.vault_state
    ADD CONSTRAINT vault_state_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.vault_tasks
    ADD CONSTRAINT vault_tasks_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX agents_organization_id_name_idx ON public.agents USING btree (organization_id, name) WHERE (deleted_at IS NULL);

CREATE INDEX api_keys_organization_id_created_at_idx ON public.api_keys USING btree (organization_id, created_at);

CREATE INDEX audit_events_at ON public.audit_events USING btree (organization_id, at);

CREATE INDEX builds_newest ON public.builds USING btree (organization_id, created_at DESC, id DESC);

CREATE UNIQUE INDEX builds_one ON public.builds USING btree (organization_id, region, content_hash) WHERE ((state = ANY (ARRAY['pending'::text, 'building'::text, 'success'::text])) AND (NOT removing) AND (cancel_requested_at IS NULL));

CREATE INDEX builds_open ON public.builds USING btree (region) WHERE (state = ANY (ARRAY['pending'::text, 'building'::text]));

CREATE INDEX builds_upload_id_idx ON public.builds USING btree (upload_id);

CREATE INDEX builds_used ON public.builds USING btree (used_at);

CREATE INDEX deployments_agent_id_created_at_idx ON public.deployments USING btree (agent_id, created_at);

CREATE INDEX deployments_of_build ON public.deployments USING btree (build_id, created_at) WHERE (build_id IS NOT NULL);

CREATE INDEX instance_logs_age ON public.instance_logs USING btree (host_id, ends_at);

CREATE INDEX instance_logs_by_begin ON public.instance_logs USING btree (agent_id, begins_at, instance_id);

CREATE INDEX instance_logs_by_end ON public.instance_logs USING btree (agent_id, ends_at, instance_id);

CREATE INDEX instance_logs_of_session ON public.instance_logs USING btree (session_id) WHERE (session_id IS NOT NULL);

CREATE INDEX instance_logs_without_session ON public.instance_logs USING btree (deployment_id, ends_at) WHERE (session_id IS NULL);

CREATE INDEX instances_ended ON public.instances USING btree (ended_at) WHERE (state = 'ended'::text);

CREATE INDEX instances_occupied ON public.instances USING btree (agent_id) WHERE (state <> 'ended'::text);

CREATE INDEX instances_open ON public.instances USING btree (deployment_id) WHERE (state <> 'ended'::text);

CREATE INDEX secret_deliveries_due ON public.secret_deliveries USING btree (region, next_at) WHERE (next_at IS NOT NULL);

CREATE UNIQUE INDEX secret_sets_one ON public.secret_sets USING btree (organization_id, lower(name));

CREATE INDEX sessions_ended ON public.sessions USING btree (ended_at) WHERE (state = 'ended'::text);

CREATE INDEX sessions_newest ON public.sessions USING btree (agent_id, created_at DESC, id DESC);

CREATE INDEX sessions_open ON public.sessions USING btree (agent_id) WHERE (state <> 'ended'::text);

CREATE UNIQUE INDEX uploads_announced ON public.uploads USING btree (organization_id, region, content_hash, size_bytes) WHERE announced;

CREATE INDEX uploads_open ON public.uploads USING btree (organization_id) WHERE (state = 'open'::text);

CREATE INDEX uploads_updated_at_idx ON public.uploads USING btree (updated_at);

CREATE UNIQUE INDEX vault_tasks_running ON public.vault_tasks USING btree (task) WHERE (state = 'running'::text);

CREATE TRIGGER audit_events_stay BEFORE DELETE OR UPDATE ON public.audit_events FOR EACH ROW EXECUTE FUNCTION public.audit_events_stay();

CREATE TRIGGER audit_events_stay_all BEFORE TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION public.audit_events_stay();

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.build_log_lines
    ADD CONSTRAINT build_log_lines_build_id_fkey FOREIGN KEY (build_id) REFERENCES public.builds(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.builds
    ADD CONSTRAINT builds_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.builds
    ADD CONSTRAINT builds_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES public.uploads(id);

ALTER TABLE ONLY public.deployments
    ADD CONSTRAINT deployments_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);

ALTER TABLE ONLY public.instance_logs
    ADD CONSTRAINT instance_logs_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);

ALTER TABLE ONLY public.instance_logs
    ADD CONSTRAINT instance_logs_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES public.deployments(id);

ALTER TABLE ONLY public.instance_logs
    ADD CONSTRAINT instance_logs_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON UPDATE CASCADE;

ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);

ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES public.deployments(id);

ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON UPDATE CASCADE;

ALTER TABLE ONLY public.instances
    ADD CONSTRAINT instances_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.pull_secret_checks
    ADD CONSTRAINT pull_secret_checks_set_id_revision_fkey FOREIGN KEY (set_id, revision) REFERENCES public.secret_revisions(set_id, revision) ON DELETE CASCADE;

ALTER TABLE ONLY public.secret_deliveries
    ADD CONSTRAINT secret_deliveries_set_id_revision_fkey FOREIGN KEY (set_id, revision) REFERENCES public.secret_revisions(set_id, revision) ON DELETE CASCADE;

ALTER TABLE ONLY public.secret_revisions
    ADD CONSTRAINT secret_revisions_set_id_fkey FOREIGN KEY (set_id) REFERENCES public.secret_sets(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.secret_sets
    ADD CONSTRAINT secret_sets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.secret_values
    ADD CONSTRAINT secret_values_set_id_fkey FOREIGN KEY (set_id) REFERENCES public.secret_sets(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.session_metrics
    ADD CONSTRAINT session_metrics_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.session_samples
    ADD CONSTRAINT session_samples_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES public.deployments(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.vault_keys
    ADD CONSTRAINT vault_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.vault_tasks
    ADD CONSTRAINT vault_tasks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

