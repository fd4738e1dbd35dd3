/** How large something is, in words. */
import { t } from '../i18n';

export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return t('files.bytes', { n: bytes });
  return bytes < 1_000_000 ? t('files.kb', { n: (bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0) }) : t('files.mb', { n: (bytes / 1_000_000).toFixed(1) });
}
