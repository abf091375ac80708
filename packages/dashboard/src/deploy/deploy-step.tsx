import { Check, LoaderCircle, X } from 'lucide-react';
import type { ReactNode } from 'react';

export type StepState = 'running' | 'done' | 'failed';
const icons = {
  running: <LoaderCircle aria-label="In progress" role="img" className="size-5 animate-spin text-accent" />,
  done: <Check aria-label="Done" role="img" className="size-5 text-good" />,
  failed: <X aria-label="Failed" role="img" className="size-5 text-danger" />,
} as const;

type DeployStepProps = { readonly title: string; readonly state: StepState; readonly children: ReactNode };

export function DeployStep({ title, state, children }: DeployStepProps) {
  return (
    <li aria-label={title} className="flex gap-3 px-5 py-4 sm:px-6">
      <span className="mt-0.5 shrink-0">{icons[state]}</span>
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        <h3 className="font-medium">{title}</h3>
        {children}
      </div>
    </li>
  );
}
