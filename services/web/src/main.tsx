import './trusted';
import './session/early';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { Problem } from './api/client';
import { chooseLanguage } from './i18n';
import { signInByLink } from './session/link';
import { chosenLanguage, showScheme } from './shell/appearance';
import './styles/tokens.css';

const isFinal = (error: Error) => error instanceof Problem && error.status > 0 && error.status < 500;
const client = new QueryClient({
  defaultOptions: {
    // Without a network, too: it fails and says so, instead of waiting without a word
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 10_000,
      retry: (count, error) => !isFinal(error) && count < 3,
    },
  },
});

showScheme();
await chooseLanguage(chosenLanguage() ?? navigator.language);
await signInByLink();
createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={client}>
    <App />
  </QueryClientProvider>,
);
