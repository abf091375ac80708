import { type Webhook, type WebhookEvent, webhookEvents, webhookLimits } from '@bothost/contract';
import { useState } from 'react';
import { CheckListField } from '../components/check-list-field.tsx';
import { DialogForm } from '../components/dialog-form.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';

export type WebhookValues = Pick<Webhook, 'url' | 'events' | 'description'>;

type WebhookFormProps<Result> = {
  readonly title: string;
  readonly lead?: string;
  readonly initial: WebhookValues;
  readonly submit: string;
  readonly send: (values: WebhookValues) => Promise<Result>;
  readonly command: (values: WebhookValues) => string;
  readonly onDone: (result: Result) => void | Promise<void>;
  readonly onClose: () => void;
};

const eventOptions = Object.entries(webhookEvents) as [WebhookEvent, string][];

/** A dialog to enter the URL and the events of a webhook. */
export function WebhookForm<Result>(props: WebhookFormProps<Result>) {
  const { title, lead, initial, submit, send, command, onDone, onClose } = props;
  const [values, setValues] = useState(initial);
  const form = useForm(() => send(values), onDone);
  return (
    <DialogForm
      title={title}
      lead={lead}
      form={form}
      submit={submit}
      isValid={values.events.length > 0}
      command={command(values)}
      onClose={onClose}
    >
      <TextField
        label="URL"
        name="url"
        type="url"
        placeholder="https://example.com/hooks"
        value={values.url}
        onValue={(url) => setValues({ ...values, url })}
        maxLength={webhookLimits.urlLength}
        required
        {...identifierInput}
      />
      <CheckListField
        label="Events"
        name="events"
        options={eventOptions}
        values={values.events}
        onValues={(events) => setValues({ ...values, events: [...events] })}
      />
      <TextField
        label="Description (optional)"
        name="description"
        value={values.description}
        onValue={(description) => setValues({ ...values, description })}
        maxLength={webhookLimits.descriptionLength}
      />
    </DialogForm>
  );
}
