import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { describeError } from '../api.ts';
import { Button } from './button.tsx';
import { downloadText } from './download-text.ts';
import { useNotice } from './notice.tsx';

type DownloadButtonProps = {
  readonly label: string;
  readonly fileName: string;
  readonly mediaType: string;
  /** Returns the content of the file. */
  readonly createText: () => string | Promise<string>;
};

/** Downloads a text that the page creates, for example from several requests. */
export function DownloadButton({ label, fileName, mediaType, createText }: DownloadButtonProps) {
  const notify = useNotice();
  const download = useMutation({
    mutationFn: async () => createText(),
    onSuccess: (text) => downloadText(fileName, mediaType, text),
    onError: (error) => notify(`Nothing was downloaded. ${describeError(error)}`),
  });
  return (
    <Button variant="outline" size="small" onClick={() => download.mutate()} disabled={download.isPending}>
      <Download aria-hidden="true" className="size-4" />
      {download.isPending ? 'Downloading…' : label}
    </Button>
  );
}
